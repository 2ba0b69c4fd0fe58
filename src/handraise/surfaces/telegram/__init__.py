"""Telegram: the same cards as messages with buttons."""
