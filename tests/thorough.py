"""How many examples a property gets: `make torture` checks thousands, `make test` a few."""

from hypothesis import settings


def at_least(examples: int) -> int:
    """This many, or as many as the profile says if that is more."""
    profile: int = settings.default.max_examples if settings.default is not None else 0
    return max(examples, profile)


def a_quarter() -> int:
    """Of what the profile says: for properties whose examples are costly."""
    return max((settings.default.max_examples if settings.default is not None else 40) // 4, 1)
