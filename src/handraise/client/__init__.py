"""Talks to a hub on the standard library alone: where it is, HTTP and its events."""
