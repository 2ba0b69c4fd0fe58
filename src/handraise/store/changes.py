"""The changes that a store takes: values, applied together or not at all."""

from dataclasses import dataclass
from datetime import datetime

from handraise.model.asks import Answered, Ask, Settlement
from handraise.model.audit import Entry
from handraise.model.items import Content, Item
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.says import Say
from handraise.model.sessions import Place, Session
from handraise.model.tokens import Token


@dataclass(frozen=True, slots=True)
class SaveSession:
    """Inserts the session or replaces it."""

    session: Session


@dataclass(frozen=True, slots=True)
class Advance:
    """The journal was taken in up to here. Everything it said is in the same batch.

    A place behind the one that is kept fails the batch: what it says was kept before.
    """

    place: Place


@dataclass(frozen=True, slots=True)
class Publish:
    """Appends to the feed."""

    session: str | None
    at: datetime
    content: Content


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """Inserts an ask and publishes `ask.opened` (and `ask.settled`, if it comes settled, by a rule).

    Nothing happens if this asker (session, or agent without one) has opened one with the same reference already.
    """

    ask: Ask


@dataclass(frozen=True, slots=True)
class SettleAsk:
    """Settles an open ask and publishes `ask.settled`; an ask that is settled stays as it is.

    `rules` are what the answer grants for longer: kept with it, or not at all. So is trust in a directory.
    """

    ask: str
    settlement: Settlement
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordLate:
    """Keeps the first late answer to an expired ask and publishes `ask.settled` again, with it."""

    ask: str
    answered: Answered


@dataclass(frozen=True, slots=True)
class DeliverAsk:
    """Claude took the answer: publishes `ask.delivered`, once."""

    ask: str
    at: datetime


@dataclass(frozen=True, slots=True)
class QueueSay:
    """Keeps what a person said until Claude takes it, and publishes `said`; a known id is left alone."""

    say: Say


@dataclass(frozen=True, slots=True)
class TakeSay:
    """Claude echoed it: publishes `said.taken`, once."""

    say: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ReturnSay:
    """Claude took it and may have lost it: it waits again, in its place, and `said` is published again."""

    say: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SaveRule:
    """Inserts a rule behind all others, or replaces it in its place."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class RemoveRule:
    """Takes a rule away."""

    rule: str


@dataclass(frozen=True, slots=True)
class RevokeTrust:
    """Forgets what was decided about a directory. Decisions are kept by the answers that make them."""

    directory: str


@dataclass(frozen=True, slots=True)
class SaveProject:
    """Inserts the project or replaces it; a name or path that another project has fails the batch."""

    project: Project


@dataclass(frozen=True, slots=True)
class SaveToken:
    """Inserts the token or replaces it, but a revocation stays; a secret that another token has fails the batch."""

    token: Token


@dataclass(frozen=True, slots=True)
class SpendCode:
    """Revokes a good one-time code; takes effect once."""

    token: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PruneTokens:
    """Forgets codes that were revoked or expired before the one time, and other tokens before the other."""

    codes: datetime
    others: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """Appends to the audit. Settlements record themselves."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Prune:
    """Forgets feed items up to and including this cursor, and says and settled asks that only they mention.

    The audit stays. So does what somebody still waits for: says not taken, and answers that a session which has not
    ended has yet to take.
    """

    up_to: int


Change = (
    SaveSession
    | Advance
    | Publish
    | OpenAsk
    | SettleAsk
    | RecordLate
    | DeliverAsk
    | QueueSay
    | TakeSay
    | ReturnSay
    | SaveRule
    | RemoveRule
    | RevokeTrust
    | SaveProject
    | SaveToken
    | SpendCode
    | PruneTokens
    | Record
    | Prune
)


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of a batch: for each change whether it took effect, and the items it put into the feed."""

    took: tuple[bool, ...]
    items: tuple[Item, ...]
