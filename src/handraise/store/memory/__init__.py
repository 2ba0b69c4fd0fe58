"""The store without a disk, for tests: the twin that keeps the contract honest. Nothing survives it."""
