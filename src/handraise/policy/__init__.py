"""Rules and what they match: standing answers to tool calls. Pure: no I/O, no clock, and never allows on a guess."""
