"""Text for a line of a table."""


def plain(text: str) -> str:
    """Without anything that could move the cursor or colour the line."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)
