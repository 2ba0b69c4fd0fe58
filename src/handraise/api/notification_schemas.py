"""What the routes of notifications take and return."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from handraise.api.schemas import Moment, Name, check_time
from handraise.channels.model import ChannelKind
from handraise.reach.model import ChainStep, EntryState, Reason, Target, Urgency
from handraise.reach.picture import Effect
from handraise.reach.settings import MOST_STEPS
from handraise.reach.statistics import AskRow, ReachStatistics

Short = Annotated[str, Meta(max_length=200)]
Fields = Annotated[dict[Short, Annotated[str, Meta(max_length=2000)]], Meta(max_length=20)]


class QuietHoursSchema(Struct, frozen=True, forbid_unknown_fields=True):
    """When you don't want to be notified, from `start` to `end` (HH:MM) in your time zone; `end` may be a day later."""

    start: Short
    end: Short
    time_zone: Short
    urgent_gets_through: bool = True


class ChannelFieldSchema(Struct, frozen=True):
    """One thing to type for a channel of this kind."""

    name: str
    required: bool
    secret: bool
    default: str
    choices: tuple[str, ...]


class ChannelKindSchema(Struct, frozen=True):
    """A kind of channel, and what it needs."""

    kind: ChannelKind
    fields: tuple[ChannelFieldSchema, ...]


class ChannelSchema(Struct, frozen=True):
    """A channel, without its secrets. `owner` is null if it is shared; `trouble`: why the last message failed."""

    id: str
    name: str
    kind: ChannelKind
    owner: str | None
    describes: str
    fields: dict[str, str]
    secrets: tuple[str, ...]
    """The names of the secrets that it has."""
    with_content: bool
    created_at: datetime
    last_sent_at: datetime | None
    trouble: str | None


class ChannelsSchema(Struct, frozen=True):
    """Your channels and shared ones, oldest first; for admins, all. `kinds` says what each kind needs."""

    channels: list[ChannelSchema]
    kinds: list[ChannelKindSchema]


class NewChannel(Struct, frozen=True, forbid_unknown_fields=True):
    """A channel to add. `shared` needs the admin role."""

    name: Name
    kind: ChannelKind
    fields: Fields
    with_content: bool = False
    """Whether what Claude wrote may be sent there."""
    shared: bool = False


class ChannelChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What is left out stays. With `fields`, all of them are replaced, except secrets that are empty."""

    name: Name | None = None
    fields: Fields | None = None
    with_content: bool | None = None


class ChannelTried(Struct, frozen=True):
    """Whether the channel accepted the test, or why not."""

    sent: bool
    trouble: str | None


class ChannelProbed(Struct, frozen=True):
    """Whether the channel could be used, and a sentence about it. Nothing was sent."""

    ok: bool
    detail: str


class MuteSchema(Struct, frozen=True):
    """No notifications about a session or a project. `for_everyone`: not only for you."""

    id: str
    session: str | None
    project: str | None
    until: datetime | None
    for_everyone: bool
    by: str
    created_at: datetime


class MutesSchema(Struct, frozen=True):
    """Your mutes and those for everyone, oldest first."""

    mutes: list[MuteSchema]


class NewMute(Struct, frozen=True, forbid_unknown_fields=True):
    """Mutes a session or a project (by ID or name), until a time or until it is removed."""

    session: Short | None = None
    project: Short | None = None
    until: Moment | None = None
    for_everyone: bool = False

    def __post_init__(self) -> None:
        check_time(self.until)


class ChainSchema(Struct, frozen=True):
    """The steps for one project (its ID), or for all others (`project` is null)."""

    project: str | None
    steps: tuple[ChainStep, ...]
    is_default: bool = False
    """Nobody set it."""


class ChainsSchema(Struct, frozen=True):
    """The chain for all projects first, then those of single projects."""

    chains: list[ChainSchema]


class NewChain(Struct, frozen=True, forbid_unknown_fields=True):
    """The steps, in any order. `after` is in seconds from when the ask was opened."""

    steps: Annotated[tuple[ChainStep, ...], Meta(min_length=1, max_length=MOST_STEPS)]


class OverviewSchema(Struct, frozen=True):
    """What you set, and what there is. `looking`: the hub thinks that you are looking at a session or the inbox."""

    person: str
    quiet_hours: QuietHoursSchema | None
    quiet_until: datetime | None
    """Until when your quiet hours last, if they have begun."""
    channels: int
    mutes: int
    devices: bool
    """Whether you turned a device on for Web Push."""
    telegram: bool
    """Whether the hub has a Telegram bot."""
    looking: bool
    people: list[str]
    """People who can answer."""


class PreviewRow(Struct, frozen=True):
    """What a step does for one channel and person.

    `sent` at the step's time, `later` at `at`, `held` until something changes, `not_sent`, or `shown` on screens.
    `reason_text` is for people.
    """

    channel: str
    label: str
    person: str | None
    effect: Effect
    at: datetime | None
    reason: Reason | None
    reason_text: str
    until: datetime | None


class PreviewStep(Struct, frozen=True):
    """One step: `after` so many seconds, at this time, with this urgency."""

    after: int
    at: datetime
    urgency: Urgency
    targets: tuple[Target, ...]
    rows: list[PreviewRow]


class PreviewSchema(Struct, frozen=True):
    """What would happen to an ask that is raised now and stays unanswered."""

    now: datetime
    project: str | None
    steps: list[PreviewStep]


class LogEntrySchema(Struct, frozen=True):
    """One notification that was sent, or not. `reason_text` and `detail` are for people."""

    step: int
    channel: str
    label: str
    person: str | None
    state: EntryState
    at: datetime
    urgency: Urgency
    reason: Reason | None
    reason_text: str
    until: datetime | None
    detail: str


class AskLogSchema(Struct, frozen=True):
    """Everything that was sent and not sent about one ask."""

    ask: str
    kind: str
    session: str | None
    project: str | None
    opened_at: datetime
    noticed_at: datetime | None
    """When someone who can answer first looked at it."""
    noticed_by: str | None
    entries: list[LogEntrySchema]


class LogSchema(Struct, frozen=True):
    """The asks of the last 90 days with anything to tell, newest first."""

    asks: list[AskLogSchema]


class StatisticsSchema(Struct, frozen=True):
    """Statistics of so many days, at most of the last 2,000 asks. Times are in seconds."""

    days: int
    statistics: ReachStatistics


class ExportSchema(Struct, frozen=True):
    """One row for each ask, newest first."""

    rows: list[AskRow]


class PresenceReport(Struct, frozen=True, forbid_unknown_fields=True):
    """What a page shows. `page` is an ID of its own; it reports again every 25 seconds while it has the focus."""

    page: Annotated[str, Meta(min_length=1, max_length=100)]
    focused: bool
    view: Literal["session", "inbox", "other"]
    session: Short | None = None


class PressedButton(Struct, frozen=True):
    """The secret of a button, valid once and only while its ask is open."""

    secret: Annotated[str, Meta(max_length=300)]


class ButtonPressed(Struct, frozen=True):
    """The ask that was answered."""

    ask: str
