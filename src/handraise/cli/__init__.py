"""The command line: what a person types. Imports of other parts stand inside the commands, so that each starts fast."""
