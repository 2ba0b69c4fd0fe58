"""The nouns of Handraise: frozen values that all parts share. Never I/O, never a clock."""
