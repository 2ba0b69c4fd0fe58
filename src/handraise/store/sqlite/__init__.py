"""The store in one SQLite file: a thread that writes, a thread that reads, and the SQL in `queries/`."""
