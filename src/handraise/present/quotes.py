"""The quote: foreign text inside one of our sentences, with nothing hidden and nothing that breaks it. Pure."""

from handraise.model.names import has_hidden, reveal

SHORT = 72
"""The longest quote that a sentence shows in full."""


def quoted(text: str) -> str:
    """On one line, with nothing hidden, and no backquote that would end the quote early."""
    return one_line(text).replace("`", "ˋ")


def one_line(text: str) -> str:
    """On one line, with nothing hidden."""
    return " ".join(reveal(text).split())


def is_short(text: str) -> bool:
    """Whether a sentence can quote it in full and unchanged."""
    return 0 < len(text) <= SHORT and "\n" not in text and "`" not in text and not has_hidden(text)


def clipped(text: str, most: int = SHORT) -> str:
    """For a glance, never for a decision: cut with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def nearby(path: str, directory: str | None) -> str:
    """A path relative to its session's directory."""
    return path.removeprefix(f"{directory}/") if directory else path
