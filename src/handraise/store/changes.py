"""The changes that a store takes: values, applied together or not at all."""

from datetime import datetime

from msgspec import Struct

from handraise.model.asks import Answered, Ask, Settlement
from handraise.model.audit import Entry
from handraise.model.items import Content, Item
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Say, Session
from handraise.model.tokens import Token


class SaveSession(Struct, frozen=True):
    """Inserts the session or replaces it."""

    session: Session


class Advance(Struct, frozen=True):
    """The journal was read up to here. Everything that follows from it is in the same batch.

    A checkpoint behind the stored one fails the batch: its effects are stored already.
    """

    checkpoint: Checkpoint


class PublishItems(Struct, frozen=True):
    """Appends to the feed."""

    session: str | None
    at: datetime
    content: Content


class OpenAsk(Struct, frozen=True):
    """Inserts an ask and publishes `ask.opened` (and `ask.settled`, if it comes settled, by a rule).

    Nothing happens if this asker (session, or agent without one) has opened one with the same reference already.
    """

    ask: Ask


class SettleAsk(Struct, frozen=True):
    """Settles an open ask and publishes `ask.settled`; an ask that is settled stays as it is.

    `rules` are what the answer grants for longer: kept with it, or not at all. So is trust in a directory.
    """

    ask: str
    settlement: Settlement
    rules: tuple[Rule, ...] = ()


class RecordLate(Struct, frozen=True):
    """Keeps the first late answer to an expired ask and publishes `ask.settled` again, with it."""

    ask: str
    answered: Answered


class DeliverAsk(Struct, frozen=True):
    """Claude took the answer: publishes `ask.delivered`, once."""

    ask: str
    at: datetime


class QueueSay(Struct, frozen=True):
    """Keeps what a person said until Claude takes it, and publishes `said`; a known id is left alone."""

    say: Say


class TakeSay(Struct, frozen=True):
    """Claude echoed it: publishes `said.taken`, once."""

    say: str
    at: datetime


class ReturnSay(Struct, frozen=True):
    """Claude took it and may have lost it: it waits again, in its place, and `said` is published again."""

    say: str
    at: datetime


class SaveRule(Struct, frozen=True):
    """Inserts a rule behind all others, or replaces it in its place."""

    rule: Rule


class RemoveRule(Struct, frozen=True):
    """Takes a rule away."""

    rule: str


class RevokeTrust(Struct, frozen=True):
    """Forgets what was decided about a directory. Decisions are kept by the answers that make them."""

    directory: str


class SaveProject(Struct, frozen=True):
    """Inserts the project or replaces it; a name or path that another project has fails the batch."""

    project: Project


class SaveToken(Struct, frozen=True):
    """Inserts the token or replaces it, but a revocation stays; a secret that another token has fails the batch."""

    token: Token


class SpendCode(Struct, frozen=True):
    """Revokes a good one-time code; takes effect once."""

    token: str
    at: datetime


class PruneTokens(Struct, frozen=True):
    """Forgets codes that were revoked or expired before the one time, and other tokens before the other."""

    codes: datetime
    others: datetime


class Record(Struct, frozen=True):
    """Appends to the audit. Settlements record themselves."""

    entry: Entry


class Prune(Struct, frozen=True):
    """Forgets feed items up to and including this cursor, and says and settled asks that only they mention.

    The audit stays. So does what is still needed: says not taken, and answers that a session which has not
    ended has yet to take.
    """

    up_to: int


Change = (
    SaveSession
    | Advance
    | PublishItems
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


class Applied(Struct, frozen=True):
    """What came of a batch: for each change whether it took effect, and the items it put into the feed."""

    took: tuple[bool, ...]
    items: tuple[Item, ...]
    asks: tuple[Ask, ...] = ()
    """The asks that it opened or settled, or for which it recorded a late answer, as they are after it."""
