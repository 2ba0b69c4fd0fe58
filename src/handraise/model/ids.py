"""The format of our IDs. Never random by itself: the entropy is an argument."""

from typing import Literal

Prefix = Literal["s", "a", "p", "r", "t", "d", "m", "i", "w", "c", "q"]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ENTROPY = 10
"""How many random bytes an ID needs."""


def spell(prefix: Prefix, entropy: bytes) -> str:
    """A letter, then 16 characters.

    `s` session, `a` ask, `p` project, `r` rule, `t` token, `d` device, `m` machine, `i` instruction, `w` webhook,
    `c` channel, `q` mute.
    """
    number = int.from_bytes(entropy[:ENTROPY], "big")
    letters = [_ALPHABET[(number >> shift) & 31] for shift in range(ENTROPY * 8 - 5, -1, -5)]
    return f"{prefix}_{''.join(letters)}"
