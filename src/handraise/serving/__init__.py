"""Serves a hub to people: its API, notifications and logs, or the demo, until it is stopped."""
