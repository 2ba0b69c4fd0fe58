"""The hub: assembles the parts and shuts them down in order. Knows nothing about HTTP."""
