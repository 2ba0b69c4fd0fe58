"""An in-memory store for tests: the second implementation of the contract. Nothing survives it."""
