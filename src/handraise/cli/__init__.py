"""The command line: what a person types. Commands import other parts when they run, so that each starts fast."""
