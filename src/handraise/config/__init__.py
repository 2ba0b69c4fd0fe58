"""The settings: what they can say, how they are read, and where each value comes from."""
