"""The settings: what can be set, how it is read, and where each value comes from."""
