"""Times for people: durations, times of day and dates, by locale. The clock is an argument.

A time is shown in its own zone: call `astimezone` first.
"""

from datetime import datetime, timedelta

from handraise.texts import pseudo
from handraise.texts.messages import is_english, language

_UNITS = ((86_400, "day", "d"), (3_600, "hour", "h"), (60, "minute", "min"), (1, "second", "s"))
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def span(length: timedelta) -> str:
    """A duration in its largest unit: `12 s`, `3 min`, `2 h`, `5 d`."""
    seconds = max(0, int(length.total_seconds()))
    size, unit, short = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    if is_english(language()):
        return _english(f"{seconds // size} {short}")
    from handraise.texts import locales  # noqa: PLC0415 (start-up: 200 ms, all of Babel)

    return locales.span(language(), seconds // size, unit)


def clock(at: datetime) -> str:
    """The time of day: `14:05`."""
    if is_english(language()):
        return f"{at:%H:%M}"
    from handraise.texts import locales  # noqa: PLC0415 (start-up: 200 ms, all of Babel)

    return locales.clock(language(), at)


def day(at: datetime, now: datetime) -> str:
    """The date, with its year if it isn't this one: `Mar 3`, `Mar 3, 2025`."""
    with_year = at.year != now.year
    if is_english(language()):
        return _english(f"{_MONTHS[at.month - 1]} {at.day}{f', {at.year}' if with_year else ''}")
    from handraise.texts import locales  # noqa: PLC0415 (start-up: 200 ms, all of Babel)

    return locales.day(language(), at, with_year=with_year)


def moment(at: datetime, now: datetime) -> str:
    """The time, with the date before it if it isn't today: `14:05`, `Mar 3, 14:05`."""
    return clock(at) if at.date() == now.date() else f"{day(at, now)}, {clock(at)}"


def _english(text: str) -> str:
    return pseudo.accented(text) if language() == pseudo.LANGUAGE else text
