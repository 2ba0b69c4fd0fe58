"""The changes that a store applies: values, all of a batch or none."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from handraise.model.actors import Actor
from handraise.model.asks import Answered, Ask, Settlement
from handraise.model.audit import Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Content, Item
from handraise.model.machines import Machine
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Say, Session
from handraise.model.tokens import Token


class SaveSession(Struct, frozen=True):
    """Inserts or replaces the session."""

    session: Session


class RemoveSession(Struct, frozen=True):
    """Deletes a session that has ended, with its items, messages and asks, and says so in the feed.

    The audit log stays. Does nothing if the session hasn't ended, or one of its asks is open.
    """

    session: str
    at: datetime
    by: Actor


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
    """Inserts an ask and publishes `ask.opened` (and `ask.settled` if a rule settled it already).

    Does nothing if this asker (a session, or an agent without one) already opened one with the same reference.
    """

    ask: Ask


class SettleAsk(Struct, frozen=True):
    """Settles an open ask and publishes `ask.settled`. A settled ask stays as it is.

    `rules` are what the answer grants for longer; they are stored with it or not at all. So is trust in a directory.
    """

    ask: str
    settlement: Settlement
    rules: tuple[Rule, ...] = ()


class RecordLate(Struct, frozen=True):
    """Stores the first late answer to an expired ask and publishes `ask.settled` again, with it."""

    ask: str
    answered: Answered


class HoldAsk(Struct, frozen=True):
    """An external agent came to another machine's hub with its open ask: this one holds the call from now on.

    Publishes `ask.held`.
    """

    ask: str
    machine: str
    at: datetime


class DeliverAsk(Struct, frozen=True):
    """Claude received the answer: publishes `ask.delivered`, once."""

    ask: str
    at: datetime


class QueueSay(Struct, frozen=True):
    """Stores a person's message until Claude receives it, and publishes `said`. A known id is ignored."""

    say: Say


class TakeSay(Struct, frozen=True):
    """Claude echoed the message: publishes `said.taken`, once."""

    say: str
    at: datetime


class ReturnSay(Struct, frozen=True):
    """Claude received it but may have lost it: queues it again, in its old position, and publishes `said` again."""

    say: str
    at: datetime


class WithdrawSay(Struct, frozen=True):
    """Takes a message back that Claude has not received, and publishes `said.withdrawn`."""

    say: str
    at: datetime


class GiveInstruction(Struct, frozen=True):
    """Stores what a person wants of a session elsewhere, and publishes it. A known id is ignored."""

    instruction: Instruction


class TakeInstruction(Struct, frozen=True):
    """The session's hub is about to carry it out; takes effect once, while it waits."""

    instruction: str
    epoch: int


class SettleInstruction(Struct, frozen=True):
    """It was carried out, refused, or taken back while it waited; publishes that, once."""

    instruction: str
    state: Literal["done", "refused", "withdrawn"]
    at: datetime
    reason: str = ""
    result: str = ""


class SaveMachine(Struct, frozen=True):
    """Inserts or replaces the machine and publishes it, for stores that only one hub writes to, and for copies."""

    machine: Machine
    at: datetime
    quiet: bool = False
    """Not published: nobody but this hub would read it."""


class RenameMachine(Struct, frozen=True):
    """A name that another machine has fails the batch."""

    machine: str
    name: str
    at: datetime


class ForgetMachine(Struct, frozen=True):
    """Removes a machine that is away and whose sessions have all ended; others stay."""

    machine: str
    at: datetime


class SaveRule(Struct, frozen=True):
    """Appends a rule, or replaces it in place."""

    rule: Rule


class RemoveRule(Struct, frozen=True):
    """Removes a rule."""

    rule: str


class RevokeTrust(Struct, frozen=True):
    """Forgets the decision about a directory. Decisions are stored with the answers that make them."""

    directory: str
    machine: str = ""
    """Empty: this one."""


class SaveProject(Struct, frozen=True):
    """Inserts or replaces the project, with its directories on every machine.

    A name that another project has fails the batch, and so does a directory that another has on the same machine.
    """

    project: Project


class RemoveProject(Struct, frozen=True):
    """Deletes a project and its directories' entries; the directories themselves stay.

    Does nothing if one of its sessions hasn't ended.
    """

    project: str


class SaveToken(Struct, frozen=True):
    """Inserts or replaces the token; a revocation stays. A secret that another token has fails the batch."""

    token: Token


class SpendCode(Struct, frozen=True):
    """Revokes a valid one-time code; takes effect once."""

    token: str
    at: datetime


class PruneTokens(Struct, frozen=True):
    """Deletes codes that were revoked or expired before one time, and other tokens before the other."""

    codes: datetime
    others: datetime


class SaveRecord(Struct, frozen=True):
    """Stores a small value of a part of the hub, such as a key or a device, if what is stored is still `only_if`.

    None: if nothing is stored under this kind and key. Whoever loses reads it again.
    """

    kind: str
    key: str
    value: bytes
    only_if: bytes | None

    def __repr__(self) -> str:
        """Without its value, which may be a secret."""
        return f"SaveRecord({self.kind!r}, {self.key!r})"


class RemoveRecord(Struct, frozen=True):
    """Removes such a value, whatever it is."""

    kind: str
    key: str


class Record(Struct, frozen=True):
    """Appends to the audit log. Settlements record themselves."""

    entry: Entry


class PruneAudit(Struct, frozen=True):
    """Deletes entries of the audit log up to and including this number, but never the newest: numbers aren't reused.

    Only after they were written elsewhere.
    """

    up_to: int


class Prune(Struct, frozen=True):
    """Deletes feed items up to and including this cursor, and the messages and settled asks that only they refer to.

    The audit log stays. So does what is still needed: queued messages, and answers not yet delivered to a session that
    has not ended.
    """

    up_to: int


Change = (
    SaveSession
    | RemoveSession
    | Advance
    | PublishItems
    | OpenAsk
    | SettleAsk
    | RecordLate
    | HoldAsk
    | DeliverAsk
    | QueueSay
    | TakeSay
    | ReturnSay
    | WithdrawSay
    | GiveInstruction
    | TakeInstruction
    | SettleInstruction
    | SaveMachine
    | RenameMachine
    | ForgetMachine
    | SaveRule
    | RemoveRule
    | RevokeTrust
    | SaveProject
    | RemoveProject
    | SaveToken
    | SpendCode
    | PruneTokens
    | SaveRecord
    | RemoveRecord
    | Record
    | PruneAudit
    | Prune
)


class Applied(Struct, frozen=True):
    """The outcome of a batch: whether each change took effect, and the items it added to the feed."""

    took: tuple[bool, ...]
    items: tuple[Item, ...]
    asks: tuple[Ask, ...] = ()
    """The asks that it opened or settled, recorded a late answer for, or holds now, in their new state."""


def changes_rules(change: Change) -> bool:
    """Whether hubs that share the database must read rules and projects again."""
    match change:
        case SaveRule() | RemoveRule() | SaveProject() | RemoveProject():
            return True
        case SettleAsk(rules=rules):
            return bool(rules)
        case _:
            return False
