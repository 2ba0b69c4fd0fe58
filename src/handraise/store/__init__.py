"""Durable state. Plain SQL in `.sql` files; one contract suite for every kind of store."""
