"""Who did it: a person, a standing rule, or the hub itself."""

from msgspec import Struct


class Person(Struct, frozen=True, tag_field="kind", tag="person"):
    """Somebody at a surface."""

    name: str


class ByRule(Struct, frozen=True, tag_field="kind", tag="rule"):
    """A standing answer that somebody gave earlier."""

    rule: str
    name: str


class TheHub(Struct, frozen=True, tag_field="kind", tag="hub"):
    """Handraise itself: a deadline, a cool-down, a malformed ask."""

    name: str = "handraise"


Actor = Person | ByRule | TheHub
