"""The interface of every desk. A surface knows nothing else about Handraise."""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, Unpack

from msgspec import Struct

from handraise.model.actors import Person
from handraise.model.answers import Answer
from handraise.model.asks import AcceptedAnswer, Ask, Kind, State
from handraise.model.audit import AuditFilter, Entry
from handraise.model.instructions import Instruction
from handraise.model.items import Item, Preview
from handraise.model.machines import Machine
from handraise.model.projects import Options, Project
from handraise.model.rules import Rule
from handraise.model.search import NO_FILTER, SearchFilter, SearchPage
from handraise.model.sessions import Say, Session
from handraise.model.trust import DirectoryTrust

Words = str | tuple[dict[str, Any], ...]


class DeskError(Exception):
    """Nothing was done. The text is a sentence for people; `code` is for programs."""

    code = "error"


class NotFound(DeskError):
    """There is no such session, ask, project or rule."""

    code = "not_found"


class Refused(DeskError):
    """Not possible now."""

    code = "refused"


class Waiting(Refused):
    """Not done yet: it was stored, and is done when the session's machine returns. It can be taken back until then."""

    code = "waiting"


class Unfit(DeskError):
    """The answer does not fit its ask, which stays open."""

    code = "unfit"


class Invalid(Refused):
    """The value can't be used, for example a name with hidden characters. The text says why."""

    code = "invalid"


class Conflict(DeskError):
    """Someone else answered first, or the ask has changed. `ask` is its current state."""

    code = "conflict"

    def __init__(self, text: str, ask: Ask) -> None:
        super().__init__(text)
        self.ask = ask


class TooLate(DeskError):
    """The ask was withdrawn; `ask` says why."""

    code = "withdrawn"

    def __init__(self, text: str, ask: Ask) -> None:
        super().__init__(text)
        self.ask = ask


class LostPlace(DeskError):
    """The cursor is unknown or was pruned: start again. `oldest` to `newest` can be followed."""

    code = "reset"

    def __init__(self, oldest: int, newest: int) -> None:
        super().__init__("This position in the feed no longer exists. Start again from the current state.")
        self.oldest = oldest
        self.newest = newest


class CutOff(DeskError):
    """This follower read too slowly. It can continue: everything up to `cursor` has reached it."""

    code = "cut_off"

    def __init__(self, cursor: int) -> None:
        super().__init__(f"Fell too far behind. Follow again after {cursor}.")
        self.cursor = cursor


class Unreached(DeskError):
    """The hub can't be reached, or stopped before it responded: assume that nothing was done."""

    code = "unreached"

    def __init__(self, text: str = "No hub is running. Start one with: handraise serve") -> None:
        super().__init__(text)


class NotLetIn(DeskError):
    """The token is unknown, or its role isn't enough."""

    code = "not_allowed"


class SessionSummary(Struct, frozen=True):
    """A session, its number of open asks, and the last thing that Claude said or did."""

    session: Session
    open_asks: int
    last_line: str = ""


class MachineSummary(Struct, frozen=True):
    """A machine, how many of its sessions have not ended, and its open asks."""

    machine: Machine
    sessions: int
    open_asks: int
    here: bool
    """Whether this hub is the machine's own."""


class Follower(Protocol):
    """Items in cursor order, and partial text; raises LostPlace or CutOff."""

    def __aiter__(self) -> "Follower": ...

    async def __anext__(self) -> Sequence[Item] | Preview: ...


class Desk(Protocol):
    """A desk belongs to one person: a surface gets one for each."""

    person: Person
    source: str

    async def start(
        self,
        say: Words,
        project: str,
        *,
        mode: str | None = None,
        model: str | None = None,
        title: str | None = None,
        machine: str | None = None,
    ) -> SessionSummary:
        """`project` is an id, a name or an absolute path.

        `machine` is an id or a name, or `any`: the least busy one that is online and has the project. Without one, the
        session runs on the hub's own machine, or on any if that is a gateway.
        """
        ...

    async def sessions(self) -> list[SessionSummary]: ...

    async def session(self, session: str) -> SessionSummary: ...

    async def say(self, session: str, say: Words, say_id: str | None = None) -> Say: ...

    async def interrupt(self, session: str) -> None: ...

    async def allow_denied(self, session: str, action: str) -> None:
        """Lets Claude retry a call that was denied without asking: exactly this one, once."""
        ...

    async def stop(self, session: str) -> None: ...

    async def change_mode(self, session: str, mode: str) -> None: ...

    async def change_model(self, session: str, model: str) -> None: ...

    async def rename(self, session: str, title: str) -> None: ...

    async def resume(self, session: str, say: Words | None = None) -> SessionSummary: ...

    async def fork(self, session: str, say: Words) -> SessionSummary: ...

    async def remove(self, session: str) -> None:
        """Deletes a session of this machine that has ended, and everything stored about it. The audit log stays."""
        ...

    async def asks(
        self,
        *,
        state: State | None = "open",
        kind: Kind | None = None,
        session: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Ask]:
        """Oldest first, unless `newest_first`. `after` is the ask that the page follows."""
        ...

    async def ask(self, ask: str) -> Ask: ...

    async def answer(self, ask: str, answer: Answer, digest: str | None = None) -> AcceptedAnswer: ...

    async def items(
        self, session: str | None = None, *, after: int | None = None, before: int | None = None, limit: int = 500
    ) -> list[Item]: ...

    async def search(
        self,
        text: str,
        *,
        session: str | None = None,
        before: int | None = None,
        limit: int = 50,
        only: SearchFilter = NO_FILTER,
    ) -> SearchPage:
        """What contains every word of the text, newest first, in one session or in all."""
        ...

    async def newest(self) -> int:
        """The newest cursor. Get it, read a list, then follow from it: nothing is missed."""
        ...

    def follow(
        self, after: int | None = None, session: str | None = None, watch: Collection[str] = ()
    ) -> AbstractAsyncContextManager[Follower]:
        """Everything after this cursor; without one, only new changes. Raises LostPlace.

        Partial text of a session on another machine comes if `session` is that session, or `watch` has it.
        """
        ...

    async def rules(self) -> list[Rule]: ...

    async def revoke(self, rule: str) -> None: ...

    async def add_rule(self, rule: Rule) -> Rule:
        """Adds it after all others. The desk sets its ID and who made it."""
        ...

    async def trusts(self) -> list[DirectoryTrust]:
        """Decisions about directories, by directory."""
        ...

    async def revoke_trust(self, directory: str, machine: str = "") -> None:
        """New sessions there ask again; running ones stay as they are. An empty `machine` is this one."""
        ...

    async def projects(self) -> list[Project]: ...

    async def add_project(
        self, path: str, name: str | None, options: Options, machine: str | None = None
    ) -> Project: ...

    async def change_project(
        self,
        project: str,
        name: str | None,
        options: Options | None,
        path: str | None = None,
        machine: str | None = None,
    ) -> Project:
        """`path` is its directory on `machine` (None: this one); an empty one removes it there."""
        ...

    async def remove_project(self, project: str) -> None:
        """Its rules are revoked with it. The directory stays, and so do its sessions, which must have ended."""
        ...

    async def machines(self) -> list[MachineSummary]:
        """By name."""
        ...

    async def rename_machine(self, machine: str, name: str) -> Machine: ...

    async def forget_machine(self, machine: str) -> None:
        """Only one that is away and has no session that has not ended."""
        ...

    async def instructions(self, session: str) -> list[Instruction]:
        """What was asked of a session on another machine and is not settled, oldest first."""
        ...

    async def withdraw_instruction(self, instruction: str) -> None: ...

    async def withdraw_say(self, say: str) -> None:
        """Only while the session's machine is away, or the session is queued."""
        ...

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        """The first 500 entries, or the given number."""
        ...
