"""The nouns of Handraise: frozen values that every station shares. Never I/O, never a clock."""
