"""Webhooks: events for other programs, signed and sent at least once."""
