"""Reach: the right person hears of an ask, once, where they are. Decided in one place for every channel."""
