"""The store in one SQLite file: one thread writes, one reads, and the SQL is in `queries/`."""
