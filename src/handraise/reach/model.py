"""What people set about notifications, and what was sent: the nouns of reach. Frozen; no I/O."""

from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

ALL = ""
"""Instead of a project: for all of them. Instead of a person: shared, or for everyone."""
EVERYTHING = "*"
"""Instead of a session: someone looks at the inbox, which shows every ask."""
PUSH = "push"
TELEGRAM = "telegram"
SCREENS = "screens"
MOST_ENTRIES = 200
"""Of one ask; the oldest are dropped."""

Urgency = Literal["low", "normal", "high"]
Reason = Literal[
    "settled", "not_allowed", "already_sent", "not_due", "muted", "looking", "quiet", "not_in_chain", "no_receiver",
]  # fmt: skip
EntryState = Literal["sending", "sent", "failed", "held", "skipped", "retracted"]


class QuietSettings(Struct, frozen=True):
    """When a person doesn't want to be notified: from `start` to `end` (HH:MM), in their time zone."""

    start: str
    end: str
    time_zone: str
    urgent_gets_through: bool = True


class Mute(Struct, frozen=True):
    """No notifications about a session or a project, for one person or (`person` is ALL) for everyone."""

    id: str
    person: str
    by: str
    created_at: datetime
    session: str | None = None
    project: str | None = None
    until: datetime | None = None

    def covers(self, person: str, session: str | None, project: str | None, now: datetime) -> bool:
        if self.person not in (ALL, person) or (self.until is not None and self.until <= now):
            return False
        if self.session is not None:
            return self.session == session
        return self.project is not None and self.project == project


class ToScreens(Struct, frozen=True, tag_field="to", tag="screens"):
    """People who are looking: pages and terminals show it anyway, and nothing is sent."""


class ToDevices(Struct, frozen=True, tag_field="to", tag="devices"):
    """The devices that people turned on: Web Push. Of one person, or of everyone."""

    person: str = ALL


class ToTelegram(Struct, frozen=True, tag_field="to", tag="telegram"):
    """The chats in the Telegram settings."""


class ToChannels(Struct, frozen=True, tag_field="to", tag="channels"):
    """Every channel: people's own, and shared ones."""


class ToChannel(Struct, frozen=True, tag_field="to", tag="channel"):
    """One channel."""

    channel: str


class ToPerson(Struct, frozen=True, tag_field="to", tag="person"):
    """Everything that reaches one person, such as a deputy: their devices and their own channels."""

    person: str


Target = ToScreens | ToDevices | ToTelegram | ToChannels | ToChannel | ToPerson


class ChainStep(Struct, frozen=True):
    """Whom to notify, so many seconds after an ask was opened and nobody has answered."""

    after: int
    targets: tuple[Target, ...]


class Chain(Struct, frozen=True):
    """The steps for the asks of one project, or of all (`project` is ALL)."""

    project: str
    steps: tuple[ChainStep, ...]


DEFAULT_STEPS = (ChainStep(0, (ToScreens(), ToDevices(), ToTelegram(), ToChannels())),)
"""What happens if nobody set a chain: everything at once."""


class ButtonSecret(Struct, frozen=True):
    """An answer on a button of a message. Only the hash of its secret is stored."""

    hash: str
    name: str
    answer: dict[str, object]
    person: str
    digest: str
    used: bool = False


class NoticeEntry(Struct, frozen=True):
    """What became of one step, for one channel and person. `message` is the same for each attempt to send it."""

    step: int
    channel: str
    person: str
    state: EntryState
    at: datetime
    reason: Reason | None = None
    until: datetime | None = None
    message: str = ""
    receipt: str = ""
    detail: str = ""
    """Why it failed, as a sentence."""
    urgency: Urgency = "normal"
    buttons: tuple[ButtonSecret, ...] = ()
    label: str = ""
    """The name of the channel, as it was then."""
    sent_at: datetime | None = None
    """When it was sent, if it was taken back since."""

    @property
    def key(self) -> tuple[int, str, str]:
        return self.step, self.channel, self.person


class AskLog(Struct, frozen=True):
    """Everything that was sent, or not sent, about one ask; and when someone first looked at it."""

    ask: str
    opened_at: datetime
    session: str | None = None
    project: str | None = None
    kind: str = ""
    entries: tuple[NoticeEntry, ...] = ()
    noticed_at: datetime | None = None
    noticed_by: str = ""
    is_closed: bool = False
    """The ask was settled, and what could be taken back was."""

    def last(self, key: tuple[int, str, str]) -> NoticeEntry | None:
        return next((each for each in reversed(self.entries) if each.key == key), None)

    @property
    def is_retractable(self) -> bool:
        """Whether something was sent that has to be looked at when the ask is settled."""
        return not self.is_closed and any(each.message for each in self.entries)

    @property
    def done(self) -> set[tuple[int, str, str]]:
        """The keys of what was sent, or given up. What is being sent may have arrived or not."""
        return {each.key for each in self.entries if each.state in ("sent", "failed", "retracted")}

    def pressed(self, button: ButtonSecret, now: datetime) -> "AskLog":
        """Its answer counted: the button is used up, unless its message was taken back in the same moment."""
        entries = tuple(
            replace(each, buttons=tuple(replace(one, used=True) if one == button else one for one in each.buttons))
            for each in self.entries
        )
        noticed = (self.noticed_at, self.noticed_by) if self.noticed_at else (now, button.person)
        return replace(self, entries=entries, noticed_at=noticed[0], noticed_by=noticed[1])

    def adding(self, entry: NoticeEntry) -> "AskLog":
        """With this entry. It takes the place of the one before, if that was about the same attempt."""
        if entry.reason == "looking" and self.noticed_at is None:
            return replace(self, noticed_at=entry.at, noticed_by=entry.person).adding(entry)
        last = self.last(entry.key)
        is_same = last is not None and (last.state, last.reason, last.until) == (entry.state, entry.reason, entry.until)
        if is_same and entry.state in ("held", "skipped"):
            return self
        if last is not None and (last.state == "sending" or (last.state, entry.state) == ("sent", "retracted")):
            return replace(self, entries=tuple(entry if each is last else each for each in self.entries))
        return replace(self, entries=(*self.entries, entry)[-MOST_ENTRIES:])
