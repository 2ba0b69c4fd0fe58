"""Talks to a hub with only the standard library: finds it, and speaks HTTP and server-sent events."""
