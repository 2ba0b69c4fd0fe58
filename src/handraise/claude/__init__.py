"""Claude as a process: the only code that starts programs. Never reads or makes a frame."""
