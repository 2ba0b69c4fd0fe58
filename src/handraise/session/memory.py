"""What a session machine remembers. Stored with the journal's offset, so that the next hub continues from there."""

from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from handraise.model.actors import Person
from handraise.model.sessions import Ended, Phase
from handraise.model.usage import UsageLimit
from handraise.session import translate
from handraise.session.translate import Action

StartKind = Literal["begin", "fork", "resume"]
Verdict = Literal["unopposed", "ask", "allow", "deny"]
_STEP = timedelta(seconds=30)
_LONGEST = timedelta(seconds=120)


class Cooldown(Struct, frozen=True):
    """The pause after "outline it first": 30, 60, 90, then 120 seconds. It grows with each use, even once over.

    It gives the person time to read the outline, so their next message ends it.
    """

    uses: int = 0
    until: datetime | None = None
    since: datetime | None = None

    def used(self, now: datetime) -> "Cooldown":
        uses = self.uses + 1
        return Cooldown(uses, now + min(_STEP * uses, _LONGEST), now)

    def replied(self, at: datetime) -> "Cooldown":
        """A person sent a message then. An earlier one doesn't reply to the outline."""
        return Cooldown(self.uses) if self.since is not None and at >= self.since else self

    def holds(self, now: datetime) -> bool:
        return self.until is not None and now < self.until


class Pending(Struct):
    """A request that Claude waits on."""

    ask: str
    tool_use: str | None
    settled: bool = False
    call: str | int | None = None
    """The call's own id if it came to our MCP server: Claude cancels it by this."""
    is_permission: bool = False
    """It came as `can_use_tool`: Claude lists it when it is asked what is pending."""
    link: tuple[str, str] | None = None
    """The server and its own id, if it wants a link visited: it says by these that the link was completed."""
    dialog: bool = False
    """Claude Code itself asks, and may close it by itself."""


class CallPrint(Struct, frozen=True):
    """Identifies a call: the digest of its tool and input, and the directory in which it runs."""

    digest: str
    directory: str


class RetryApproval(Struct, frozen=True):
    """A person allowed one retry of a denied call."""

    by: Person
    source: str
    at: datetime
    until: datetime

    def holds(self, now: datetime) -> bool:
        """Also over if the clock was set back."""
        return self.at <= now < self.until


class DeniedCall(Struct):
    """A call that Claude Code denied, and that a person may allow."""

    tool: str
    print: CallPrint
    until: datetime
    """How long it may be allowed."""
    approval: RetryApproval | None = None
    retry: str = ""
    """The tool call that the approval is for: the first one that is the same."""
    spent: bool = False
    """The approval was used."""


class Memory(Struct, omit_defaults=True):
    """Small, and can be stored completely."""

    title: str = ""
    phase: Phase = "starting"
    greeted: bool = False
    turn: int = 0
    mode: str = "default"
    model: str | None = None
    cost_before: float = 0.0
    """The cost of earlier processes of the session."""
    cost_run: float = 0.0
    requests: dict[str, Pending] = field(default_factory=dict)
    wants: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What we asked Claude to change and it has not acknowledged: what, and the value."""
    wants_made: int = 0
    reconciling: str = ""
    """Our request for what Claude waits on, until it is answered."""
    says_it_waits: bool = False
    """Claude's own state: it waits for a person."""
    open_then: list[str] = field(default_factory=list)
    """The permission requests that were open when it was made."""
    actions: dict[str, Action] = field(default_factory=dict)
    last_text: str = ""
    last_error: str = ""
    failed_to_begin: bool = False
    """Claude reported an error before any turn started."""
    signed_out: bool = False
    """In this turn the API was not reached because Claude isn't signed in."""
    key_source: str = ""
    """Where Claude got its API key, as it reports it."""
    usage: tuple[UsageLimit, ...] = ()
    """The usage limits of the account."""
    context: int = 0
    """How many tokens the last request of the conversation had, with its reply."""
    context_limit: int = 0
    """How many it may have; 0 if Claude hasn't said."""
    cooldown: Cooldown = Cooldown()
    unmoved: bool = False
    """Something was answered, and nothing has come from Claude since."""
    stuck: bool = False
    version: str = ""
    """The version of Claude Code; empty if an older hub started it and no turn has begun since."""
    way: StartKind = "begin"
    """How this process was started."""
    missing: Literal["", "fork", "resume"] = ""
    """Claude found nothing to continue this way. Until it has received something, it starts without."""
    claude_id: str = ""
    """Claude's id for the conversation: `/clear` starts another one."""
    opening: str = ""
    """The message that started the conversation."""
    unfinished: dict[str, datetime] = field(default_factory=dict)
    """The messages of a turn that has not ended, or was cut off, and when each was received."""
    finished: list[str] = field(default_factory=list)
    """The messages of the last turn that ended: Claude may still report what became of them."""
    key: str = ""
    """Marks our answers to this process; empty if an older hub started it."""
    calls: dict[str, Verdict] = field(default_factory=dict)
    """Our answer to each tool call in progress."""
    is_checked: bool = False
    """Claude has us check its calls."""
    prints: dict[str, CallPrint] = field(default_factory=dict)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What identifies each tool call in progress."""
    denied: dict[str, DeniedCall] = field(default_factory=dict)
    """Calls that a person may allow, or has allowed, by their ids."""
    renamed: bool = False
    """A person chose the title: Claude's own does not replace it."""
    granted: list[str] = field(default_factory=list)
    """The permission modes that we set or approved."""
    alarm: str = ""
    """What bypassed us, if anything did."""
    stop_reason: str | None = None
    stopped_by: str | None = None
    ended: Ended | None = None

    @property
    def cost_usd(self) -> float:
        return self.cost_before + self.cost_run

    @property
    def is_over(self) -> bool:
        """Its process is gone: for good, or until another follows."""
        return self.phase in ("ended", "queued", "parked")

    @property
    def is_ending(self) -> bool:
        """Its process is being ended and accepts nothing more."""
        return self.phase in ("stopping", "parking")

    @property
    def has_background(self) -> bool:
        return any(action.startswith(translate.BACKGROUND) for action in self.actions)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self)

    @classmethod
    def load(cls, dumped: bytes) -> "Memory":
        return msgspec.msgpack.decode(dumped, type=cls)

    def public(self) -> tuple[Any, ...]:
        """What people see of it; when this changes, so does the session's record."""
        state = (self.title, self.phase, self.mode, self.model, self.cost_usd, self.stuck, self.ended, self.claude_id)
        return (*state, self.usage)
