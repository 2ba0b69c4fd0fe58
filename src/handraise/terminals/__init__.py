"""Claudes that people run in a terminal: their requests, their state, and their timeline."""
