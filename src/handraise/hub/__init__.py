"""The hub: puts the parts together and takes them apart in order. Knows nothing about HTTP."""
