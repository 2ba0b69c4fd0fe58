"""Who did it: a person, a standing rule, or the hub itself."""

from hashlib import sha256

from msgspec import Struct

_SEAT = 12


class Person(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="person"):
    """A person at a surface. `seat` is their browser or terminal, if known."""

    name: str
    seat: str = ""


class ByRule(Struct, frozen=True, tag_field="kind", tag="rule"):
    """A rule that a person made earlier."""

    rule: str
    name: str


class TheHub(Struct, frozen=True, tag_field="kind", tag="hub"):
    """Handraise itself: a deadline, a cool-down, a malformed request, a link that was completed on its website."""

    name: str = "handraise"


Actor = Person | ByRule | TheHub


def seat_of(secret: str) -> str:
    """The public ID of a browser or terminal, derived from its secret. Knowing it doesn't let anyone act from there."""
    return sha256(b"seat " + secret.encode()).hexdigest()[:_SEAT] if secret else ""


def is_me(by: Actor, me: Person) -> bool:
    """Whether it was done from this very seat; the same account elsewhere doesn't count."""
    return by == me and me.seat != ""
