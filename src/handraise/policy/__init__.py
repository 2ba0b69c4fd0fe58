"""Rules and what they match: standing answers to calls. Pure: no I/O, no clock, no guess in favour of a call."""
