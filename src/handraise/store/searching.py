"""How a store narrows a search down before items are read: by letters and digits that stand in them. Pure."""

from handraise.model.search import Query

CANDIDATES = 500
"""How many rows are read at once: one may have long texts."""
_COLUMNS = ("first", "second", "third")


def patterns_of(query: Query) -> dict[str, str]:
    """Patterns that every item with the query's words matches; the longest are the narrowest.

    They have only letters and digits, so nothing that a person typed is a wildcard.
    """
    runs = sorted(query.runs, key=len, reverse=True)
    return {name: f"%{run}%" for name, run in zip(_COLUMNS, [*runs, "", "", ""], strict=False)}
