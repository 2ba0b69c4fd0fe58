"""The quote: foreign text within one of our sentences, made visible and harmless to the sentence. Pure."""

from handraise.model.names import has_hidden, reveal

SHORT = 72
"""How long a quote may be for a sentence to show all of it."""


def quoted(text: str) -> str:
    """One line in which nothing is hidden, and no backquote that would end the quote early."""
    return one_line(text).replace("`", "ˋ")


def one_line(text: str) -> str:
    """One line in which nothing is hidden."""
    return " ".join(reveal(text).split())


def is_short(text: str) -> bool:
    """Whether a sentence can quote it whole and exactly as it is."""
    return 0 < len(text) <= SHORT and "\n" not in text and "`" not in text and not has_hidden(text)


def clipped(text: str, most: int = SHORT) -> str:
    """For a glance, never for what is decided about: cut with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def nearby(path: str, directory: str | None) -> str:
    """A path as seen from the directory of its session."""
    return path.removeprefix(f"{directory}/") if directory else path
