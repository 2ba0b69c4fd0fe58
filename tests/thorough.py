"""How many examples a property gets: `make torture` looks at thousands, whatever is enough for `make test`."""

from hypothesis import settings


def at_least(examples: int) -> int:
    """So many, or as many as the profile says if those are more."""
    profile: int = settings.default.max_examples if settings.default is not None else 0
    return max(examples, profile)
