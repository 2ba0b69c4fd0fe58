"""The locale: plurals, dates and times of every language but English, with Babel. Imported only when needed."""

from datetime import datetime
from functools import cache

from babel.core import Locale
from babel.dates import format_skeleton, format_time
from babel.units import format_unit


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language, sep="-")


def category(language: str, count: int) -> str:
    """The plural category of a number."""
    return _locale(language).plural_form(count)


def span(language: str, count: int, unit: str) -> str:
    """A duration: `unit` is second, minute, hour or day."""
    return format_unit(count, f"duration-{unit}", length="short", locale=_locale(language))


def clock(language: str, at: datetime) -> str:
    """The time of day, in the zone of `at`."""
    return format_time(at, "short", tzinfo=at.tzinfo, locale=_locale(language))


def day(language: str, at: datetime, *, with_year: bool) -> str:
    """The date."""
    return format_skeleton("yMMMd" if with_year else "MMMd", at, tzinfo=at.tzinfo, locale=_locale(language))
