"""Who did it: a person, a standing rule, or the hub itself."""

from hashlib import sha256

from msgspec import Struct

_SEAT = 12


class Person(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="person"):
    """Somebody at a surface. `seat` is the browser or terminal that they act from, where it is known."""

    name: str
    seat: str = ""


class ByRule(Struct, frozen=True, tag_field="kind", tag="rule"):
    """A standing answer that somebody gave earlier."""

    rule: str
    name: str


class TheHub(Struct, frozen=True, tag_field="kind", tag="hub"):
    """Handraise itself: a deadline, a cool-down, a malformed ask."""

    name: str = "handraise"


Actor = Person | ByRule | TheHub


def seat_of(secret: str) -> str:
    """What others see of the secret that a browser or a terminal is known by. Nobody can sit there by knowing it."""
    return sha256(b"seat " + secret.encode()).hexdigest()[:_SEAT] if secret else ""


def is_me(by: Actor, me: Person) -> bool:
    """Whether it was done from this very seat: the same account elsewhere is somebody else."""
    return by == me and me.seat != ""
