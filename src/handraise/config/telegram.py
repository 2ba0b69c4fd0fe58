"""`[telegram]`: the bot, who may use it, and where cards go. Reads no file."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from handraise.model.names import BadName, check_name

TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]{20,}")
PUBLIC_API = "https://api.telegram.org"
_LARGEST_ID = 2**52
_LARGEST_TOPIC = 2**31 - 1
_HOURS = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")

Text = Annotated[str, Meta(min_length=1)]
TokenText = Annotated[str, Meta(pattern=rf"^{TOKEN.pattern}$", description="from BotFather, such as 123456789:ABC…")]
PlaceText = Annotated[str, Meta(pattern=r"^-?[1-9][0-9]*(:[1-9][0-9]*)?$")]
MemberRole = Literal["viewer", "approver", "admin"]
Chats = Annotated[
    tuple[int | PlaceText, ...], Meta(description='chats such as -1001234, or topics such as "-1001234:17"')
]
Names = Annotated[dict[str, Text], Meta(description='for example {1001 = "ana"}')]
Roles = Annotated[
    dict[str, MemberRole], Meta(description='for example {1001 = "admin"}; roles are viewer, approver and admin')
]
Routes = Annotated[
    dict[str, int | PlaceText], Meta(description='for example {shop = "-1001234:17"}: a chat, or a topic in it')
]


class TelegramSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[telegram]`: the bot, and who may use it."""

    token: TokenText | None = None
    token_file: Text | None = None
    allowed: tuple[int, ...] = ()
    chats: Chats = ()
    names: Names = {}
    roles: Roles = {}
    routes: Routes = {}
    quiet_hours: (
        Annotated[str, Meta(pattern=rf"^{_HOURS.pattern}$", description='for example "22:00-07:00"')] | None
    ) = None
    time_zone: Text | None = None
    api: Text = PUBLIC_API
    session_topics: bool = False

    def __post_init__(self) -> None:
        for complaint in _complaints(self):
            raise ValueError(f"[telegram] {complaint}")

    def __repr__(self) -> str:
        """Without the token, which must not appear in a log."""
        return f"TelegramSettings(token={'…' if self.token else None}, allowed={self.allowed})"

    @property
    def is_on(self) -> bool:
        """Whether there is a bot."""
        return self.token is not None or self.token_file is not None

    @property
    def member_numbers(self) -> tuple[int, ...]:
        """Who may use the bot, each once."""
        return tuple(dict.fromkeys(self.allowed))

    def name_of(self, number: int) -> str:
        """What an allowed user is called. Not their name in Telegram, which they could change to someone else's."""
        return self.names.get(str(number), str(number))

    def role_of(self, number: int) -> MemberRole:
        return self.roles.get(str(number), "approver")

    @property
    def places(self) -> tuple[tuple[int, int | None], ...]:
        """The chats, and topics of chats, that get every card without a route."""
        return tuple(dict.fromkeys(place(each) for each in self.chats))

    @property
    def routed(self) -> dict[str, tuple[int, int | None]]:
        """Where the cards of some projects go, by the project's name."""
        return {project: place(each) for project, each in self.routes.items()}

    @property
    def destinations(self) -> tuple[tuple[int, int | None], ...]:
        """Every chat and topic that gets cards; private chats only if there are no others."""
        private = () if self.chats else tuple((number, None) for number in self.member_numbers)
        return tuple(dict.fromkeys((*self.places, *private, *self.routed.values())))


def place(written: int | str) -> tuple[int, int | None]:
    """A chat, and a topic in it: `-1001234` or `"-1001234:17"`."""
    chat, _, topic = str(written).partition(":")
    return int(chat), int(topic) if topic else None


def hours(written: str) -> tuple[int, int]:
    """Two times of day in minutes: `"22:00-07:00"`."""
    parts = _HOURS.fullmatch(written)
    if parts is None:
        raise ValueError("not two times of day")
    start_hour, start_minute, end_hour, end_minute = (int(each) for each in parts.groups())
    return start_hour * 60 + start_minute, end_hour * 60 + end_minute


def _complaints(settings: TelegramSettings) -> Iterator[str]:
    """A sentence for everything that makes no sense, with the next step."""
    if settings.token is not None and settings.token_file is not None:
        yield "token and token_file are both set. Remove one of them."
    if settings.is_on and not settings.allowed and not settings.chats:
        yield (
            "has a bot, but nobody can use it. Run `handraise telegram setup`, or add your Telegram user ID to allowed."
        )
    yield from _wrong_people(settings)
    if settings.quiet_hours is not None and len({*hours(settings.quiet_hours)}) == 1:
        yield "quiet_hours must start and end at different times, for example 22:00-07:00."
    if settings.time_zone is not None and not _is_zone(settings.time_zone):
        yield f"time_zone must be a name such as Europe/Berlin. {settings.time_zone!r} isn't one."
    if not _is_api(settings.api):
        yield (
            "api must be the address of a Bot API server, for example http://127.0.0.1:8081, without a user, a query"
            " or the token."
        )


def _wrong_people(settings: TelegramSettings) -> Iterator[str]:
    for number in settings.allowed:
        if number >= _LARGEST_ID:
            yield f"allowed takes user IDs. {number} isn't one."
        if number <= 0:
            yield f"allowed takes user IDs. {number} is a group; add it to chats."
    for key, numbers in (("names", settings.names), ("roles", settings.roles)):
        for written in numbers:
            if written not in map(str, settings.allowed):
                yield f"{key} has {written!r}, which isn't a user in allowed. Add it there or remove it here."
    seen = set()
    for number in settings.member_numbers:
        try:
            check_name(settings.name_of(number))
        except BadName as error:
            yield f"names: {error}"
        if (name := settings.name_of(number)) in seen:
            yield f"names calls two users {name!r}. Use different names, so the audit log can tell them apart."
        seen.add(name)
    for key, places in (("chats", settings.places), ("routes", settings.routed.values())):
        for chat, topic in places:
            if not 0 < abs(chat) < _LARGEST_ID or (topic or 0) > _LARGEST_TOPIC:
                yield f"{key} takes chat IDs. {chat if topic is None else f'{chat}:{topic}'} isn't one."


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 (as slow as a tenth of all settings, for a key that few set)

    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True


def _is_api(url: str) -> bool:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment or TOKEN.search(url))
    return bool(known) and plain and not re.search(r"[\s\x00-\x1f\x7f]", url)
