"""The feed item: one entry of the ordered log of changes, and every content that one can have."""

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from handraise.model.actors import Actor
from handraise.model.usage import UsageLimit

ActionKind = Literal["command", "file_change", "tool", "web_search", "note"]


class SessionStarted(Struct, frozen=True, tag_field="type", tag="session.started"):
    """A process of the session is up; `run` is 1 for the first."""

    title: str
    project: str | None
    directory: str
    mode: str
    model: str | None
    run: int
    sandbox: str = ""
    """The preset of its sandbox, or `none` where there can't be one. Empty in older items."""
    terminal: str = ""
    """The machine where a person runs it in a terminal; empty if the hub runs it."""


class SessionChanged(Struct, frozen=True, tag_field="type", tag="session.changed"):
    """The session from here on, in the API's format."""

    phase: str
    mode: str
    model: str | None
    title: str
    cost_usd: float
    note: str = ""
    stuck_since: datetime | None = None
    usage: tuple[UsageLimit, ...] = ()
    dialog: str = ""
    """What waits in its terminal and can be answered only there; empty if nothing does."""


class TurnStarted(Struct, frozen=True, tag_field="type", tag="turn.started"):
    """Claude started on a message."""

    turn: int


class TurnEnded(Struct, frozen=True, tag_field="type", tag="turn.ended"):
    """A `result`: the turn's cost, and its error verbatim."""

    turn: int
    cost_usd: float
    duration_ms: int
    usage: dict[str, Any]
    is_error: bool
    error: str | None
    result: str
    denials: int = 0
    interrupted: bool = False
    """A person ended it; not a failure, even though Claude sets `is_error`."""
    context: int = 0
    """How many tokens the conversation has by now. 0 if Claude doesn't say."""
    context_limit: int = 0
    """How many it may have. 0 if Claude doesn't say."""


class Said(Struct, frozen=True, tag_field="type", tag="said"):
    """A person's message; queued until a `said.taken` refers to it."""

    say: str
    text: str
    images: int
    by: Actor
    source: str


class SaidTaken(Struct, frozen=True, tag_field="type", tag="said.taken"):
    """Claude received the message."""

    say: str


class Text(Struct, frozen=True, tag_field="type", tag="text"):
    """Claude's text. `parent` is the tool ID of the sub-agent that wrote it."""

    text: str
    message: str
    parent: str | None = None
    own: bool | UnsetType = UNSET
    """Claude Code itself wrote it, in reply to a command such as `/cost`: its line breaks count. Else left out."""


class Thinking(Struct, frozen=True, tag_field="type", tag="thinking"):
    """Claude's thinking, if shown."""

    text: str
    message: str
    parent: str | None = None


class ActionStarted(Struct, frozen=True, tag_field="type", tag="action.started"):
    """Claude uses a tool, or something runs in the background."""

    action: str
    kind: ActionKind
    title: str
    tool: str
    input: dict[str, Any]
    parent: str | None = None


class ActionChanged(Struct, frozen=True, tag_field="type", tag="action.changed"):
    """A person edited an action's input before it ran: this is what runs."""

    action: str
    title: str
    input: dict[str, Any]
    by: Actor


class ActionEnded(Struct, frozen=True, tag_field="type", tag="action.ended"):
    """The tool's result; `omitted` counts the characters of output that are only in the journal."""

    action: str
    kind: ActionKind
    title: str
    ok: bool
    output: str
    omitted: int = 0
    images: int = 0
    parent: str | None = None


class ActionChecked(Struct, frozen=True, tag_field="type", tag="action.checked"):
    """Claude Code's automatic check of an action takes long, or is done."""

    action: str
    checking: bool


class ActionDenied(Struct, frozen=True, tag_field="type", tag="action.denied"):
    """Claude Code denied an action without asking. A person may allow a retry until `allowable_until`, if set."""

    action: str
    title: str
    tool: str
    reason: str
    """A sentence, with Claude Code's own reason if it gave one."""
    cause: str
    """Why, by Claude Code's own name for it: `classifier`, `safetyCheck`, `mode`, …"""
    allowable_until: datetime | None = None
    parent: str | None = None
    dangers: tuple[str, ...] = ()
    """What to look at twice before a retry is allowed, as sentences; foreign text is in backquotes."""


class DenialChanged(Struct, frozen=True, tag_field="type", tag="denial.changed"):
    """What became of a denied action.

    A person allowed one retry of exactly this call, the retry came and was allowed, or it can't be allowed any more.
    """

    action: str
    state: Literal["allowed", "retried", "over"]
    by: Actor | None = None
    """Who allowed it, if a person did."""
    note: str = ""
    """Why it is over."""


class AskOpened(Struct, frozen=True, tag_field="type", tag="ask.opened"):
    """The whole ask, in the API's format."""

    ask: dict[str, Any]


class AskSettled(Struct, frozen=True, tag_field="type", tag="ask.settled"):
    """How the ask ended; a late answer comes as a second one, with its settlement."""

    ask: str
    settlement: dict[str, Any]


class AskDelivered(Struct, frozen=True, tag_field="type", tag="ask.delivered"):
    """Claude confirmed that it received the answer."""

    ask: str


class AskHeld(Struct, frozen=True, tag_field="type", tag="ask.held"):
    """The external agent that waits for the answer does so at another machine's hub from now on."""

    ask: str
    machine: str


class Notice(Struct, frozen=True, tag_field="type", tag="notice"):
    """Something a person should know: a rate limit, a retry, a damaged line, an answer without effect."""

    level: Literal["info", "warning", "error", "alarm"]
    """An alarm: something bypassed Handraise, and the session is stopped."""
    text: str
    about: str = ""


class SessionEnded(Struct, frozen=True, tag_field="type", tag="session.ended"):
    """The session's process is gone."""

    how: str
    reason: str
    exit_code: int | None
    by: str | None = None
    """Who stopped it, if a person did."""
    alarm: bool = False


class SessionRemoved(Struct, frozen=True, tag_field="type", tag="session.removed"):
    """The session was deleted, with all of its items: this is the only one that it still has."""

    by: Actor


class SaidWithdrawn(Struct, frozen=True, tag_field="type", tag="said.withdrawn"):
    """The message was taken back before Claude received it."""

    say: str


class InstructionGiven(Struct, frozen=True, tag_field="type", tag="instruction.given"):
    """A person wants something of a session on another machine, whose hub will carry it out."""

    instruction: str
    kind: str
    value: str
    machine: str
    by: Actor
    source: str


class InstructionSettled(Struct, frozen=True, tag_field="type", tag="instruction.settled"):
    """What became of an instruction: `done`, `refused` with its reason, or `withdrawn`."""

    instruction: str
    state: str
    reason: str = ""
    result: str = ""


class MachineChanged(Struct, frozen=True, tag_field="type", tag="machine.changed"):
    """A machine came online, went away, got another name or was forgotten, in the API's format."""

    machine: dict[str, Any]
    forgotten: bool = False


class NotificationFailed(Struct, frozen=True, tag_field="type", tag="notification.failed"):
    """A notification did not arrive, and isn't sent again. Its item has no session."""

    channel: str
    """The name of what should have received it, such as a device or a chat."""
    kind: str
    """`push`, `telegram`, `ntfy`, `email` or `apprise`."""
    person: str
    """Who it was for; empty if that isn't known."""
    ask: str
    """The ask that it was about; empty if there is none."""
    reason: str
    """A sentence."""


class Frame(Struct, frozen=True, tag_field="type", tag="frame"):
    """An unrecognized message from Claude; `frame` is the line itself."""

    frame: Any


Content = (
    SessionStarted
    | SessionChanged
    | TurnStarted
    | TurnEnded
    | Said
    | SaidTaken
    | Text
    | Thinking
    | ActionStarted
    | ActionChanged
    | ActionEnded
    | ActionChecked
    | ActionDenied
    | DenialChanged
    | AskOpened
    | AskSettled
    | AskDelivered
    | AskHeld
    | Notice
    | SessionEnded
    | SessionRemoved
    | SaidWithdrawn
    | InstructionGiven
    | InstructionSettled
    | MachineChanged
    | NotificationFailed
    | Frame
)


class Item(Struct, frozen=True):
    """An entry of the feed. `content` is already JSON: encoded once, and shared by every follower."""

    cursor: int
    session: str | None
    at: datetime
    content: bytes

    def as_json(self) -> bytes:
        """One flat object: `{"cursor": …, "session": …, "at": …, "type": …, …}`."""
        head = msgspec.json.encode({"cursor": self.cursor, "session": self.session, "at": self.at})
        return head[:-1] + b"," + self.content[1:]

    def read(self) -> Content:
        """The content as our type."""
        content: Content = _CONTENT.decode(self.content)
        return content


class Preview(Struct, frozen=True):
    """A block that Claude has not finished, without a cursor; the stored item takes its place.

    It carries all of the text so far and not what was added: any preview may be left out, and a follower that comes in
    the middle needs no earlier one.
    """

    session: str
    message: str
    index: int
    """Which block of the message."""
    kind: str
    """`text` or `thinking`."""
    text: str
    parent: str | None = None
    """The tool id of the sub-agent that writes it."""


_CONTENT: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Content)
