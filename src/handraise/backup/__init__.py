"""Everything that a hub needs on this machine, in one file: saved while it runs, and restored while it is stopped."""
