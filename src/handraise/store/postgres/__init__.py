"""The store in a PostgreSQL database that several machines share; the SQL is in `queries/`. Needs `asyncpg`."""
