"""The plural category of a number: English is built in, and Babel knows every other language."""

from handraise.texts import pseudo

_ENGLISH = ("en", pseudo.LANGUAGE)


def is_english(language: str) -> bool:
    """Whether it counts and dates as English does."""
    return language in _ENGLISH


def category(language: str, count: int) -> str:
    """`one`, `few`, `other` and so on, as CLDR names them."""
    if is_english(language):
        return "one" if count == 1 else "other"
    from handraise.texts import locales  # noqa: PLC0415 (start-up: 200 ms, all of Babel)

    return locales.category(language, count)
