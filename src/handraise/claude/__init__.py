"""Runs Claude as a process: the only code that starts programs. Never reads or writes a frame."""
