"""The bot that the settings describe."""

from collections.abc import Mapping
from datetime import UTC, time, tzinfo
from pathlib import Path

from handraise.config.files import bot_token
from handraise.config.telegram import TelegramSettings, hours
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, QuietHours, TelegramConfig

_LOCAL_TIME = Path("/etc/localtime")


def telegram_config(settings: TelegramSettings, environ: Mapping[str, str]) -> TelegramConfig | None:
    """The bot's configuration; None without a bot. Raises SettingsRefused if its token can't be read."""
    token = bot_token(settings, environ)
    if token is None:
        return None
    return TelegramConfig(
        token=token,
        members=tuple(
            Member(number, settings.name_of(number), settings.role_of(number)) for number in settings.member_numbers
        ),
        chats=tuple(ChatPlace(*each) for each in settings.places),
        routes={project: ChatPlace(*each) for project, each in settings.routed.items()},
        quiet=_quiet(settings, environ),
        api=settings.api.rstrip("/"),
        session_topics=settings.session_topics,
    )


def _quiet(settings: TelegramSettings, environ: Mapping[str, str]) -> QuietHours | None:
    if settings.quiet_hours is None:
        return None
    start, end = (time(*divmod(minutes, 60)) for minutes in hours(settings.quiet_hours))
    return QuietHours(start, end, _zone(settings.time_zone or environ.get("TZ", "").removeprefix(":")))


def _zone(name: str) -> tzinfo:
    """The zone with this name, or this machine's own."""
    from zoneinfo import ZoneInfo

    try:
        if name:
            return ZoneInfo(name)
        with _LOCAL_TIME.open("rb") as file:
            return ZoneInfo.from_file(file)
    except (OSError, ValueError, KeyError):
        return UTC
