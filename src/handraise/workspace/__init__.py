"""The files that connect a Claude you run yourself to the hub: our entries are merged in, and removed again."""
