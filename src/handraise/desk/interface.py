"""What every desk can do. A surface knows nothing else of Handraise."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, Unpack

from msgspec import Struct

from handraise.model.actors import Person
from handraise.model.answers import Answer
from handraise.model.asks import AcceptedAnswer, Ask, Kind, State
from handraise.model.audit import AuditFilter, Entry
from handraise.model.items import Item, Preview
from handraise.model.projects import Options, Project
from handraise.model.rules import Rule
from handraise.model.says import Say
from handraise.model.sessions import Session
from handraise.model.trust import DirectoryTrust

Words = str | tuple[dict[str, Any], ...]


class DeskError(Exception):
    """It was not done. The text is a sentence for the person; `code` is for programs."""

    code = "error"


class NotFound(DeskError):
    """There is no such session, ask, project or rule."""

    code = "not_found"


class Refused(DeskError):
    """It cannot be done now."""

    code = "refused"


class Unfit(DeskError):
    """The answer does not fit its ask, which stays open."""

    code = "unfit"


class Invalid(Refused):
    """What was given can't be used: a name with hidden characters, for one. The text says why."""

    code = "invalid"


class Conflict(DeskError):
    """Somebody was first, or the ask is not what was shown; `ask` is how it stands."""

    code = "conflict"

    def __init__(self, text: str, ask: Ask) -> None:
        super().__init__(text)
        self.ask = ask


class TooLate(DeskError):
    """The asker went away; `ask` tells why."""

    code = "withdrawn"

    def __init__(self, text: str, ask: Ask) -> None:
        super().__init__(text)
        self.ask = ask


class LostPlace(DeskError):
    """The cursor is unknown or was pruned: begin anew. `oldest` to `newest` can be followed."""

    code = "reset"

    def __init__(self, oldest: int, newest: int) -> None:
        super().__init__("This place in the feed is gone; begin with what is there now.")
        self.oldest = oldest
        self.newest = newest


class CutOff(DeskError):
    """Too much waited for this follower. It can come back: everything up to `cursor` has reached it."""

    code = "cut_off"

    def __init__(self, cursor: int) -> None:
        super().__init__(f"Too much waited here; follow again after {cursor}.")
        self.cursor = cursor


class Unreached(DeskError):
    """The hub could not be reached, or went away before it said anything: nothing may be taken for done."""

    code = "unreached"

    def __init__(self, text: str = "No hub answers here. Start one with: handraise serve") -> None:
        super().__init__(text)


class NotLetIn(DeskError):
    """The hub does not know the token, or its role may not do this."""

    code = "not_allowed"


class SessionSummary(Struct, frozen=True):
    """A session, how many of its asks are open, and in one line what Claude said or did there last."""

    session: Session
    open_asks: int
    last_line: str = ""


class Follower(Protocol):
    """Items in the order of their cursors, and partial text; raises LostPlace or CutOff."""

    def __aiter__(self) -> "Follower": ...

    async def __anext__(self) -> Sequence[Item] | Preview: ...


class Desk(Protocol):
    """Who acts is part of the desk: every surface gets one for each person."""

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
    ) -> SessionSummary:
        """`project` is an id, a name or an absolute path."""
        ...

    async def sessions(self) -> list[SessionSummary]: ...

    async def session(self, session: str) -> SessionSummary: ...

    async def say(self, session: str, say: Words, say_id: str | None = None) -> Say: ...

    async def interrupt(self, session: str) -> None: ...

    async def stop(self, session: str) -> None: ...

    async def change_mode(self, session: str, mode: str) -> None: ...

    async def change_model(self, session: str, model: str) -> None: ...

    async def rename(self, session: str, title: str) -> None: ...

    async def resume(self, session: str, say: Words | None = None) -> SessionSummary: ...

    async def fork(self, session: str, say: Words) -> SessionSummary: ...

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
        """Oldest first, unless wished otherwise; those after one of them in that order."""
        ...

    async def ask(self, ask: str) -> Ask: ...

    async def answer(self, ask: str, answer: Answer, digest: str | None = None) -> AcceptedAnswer: ...

    async def items(
        self, session: str | None = None, *, after: int | None = None, before: int | None = None, limit: int = 500
    ) -> list[Item]: ...

    async def newest(self) -> int:
        """The newest cursor: what is read after asking for it, and followed from it, misses nothing."""
        ...

    def follow(self, after: int | None = None, session: str | None = None) -> AbstractAsyncContextManager[Follower]:
        """Everything after this cursor; without one, whatever comes from here on. Raises LostPlace."""
        ...

    async def rules(self) -> list[Rule]: ...

    async def revoke(self, rule: str) -> None: ...

    async def add_rule(self, rule: Rule) -> Rule:
        """Behind all others. The desk gives it its id, and says who made it."""
        ...

    async def trusts(self) -> list[DirectoryTrust]:
        """What was decided about directories, by directory."""
        ...

    async def revoke_trust(self, directory: str) -> None:
        """Sessions that start there from now on ask again; those that run stay as they are."""
        ...

    async def projects(self) -> list[Project]: ...

    async def add_project(self, path: str, name: str | None, options: Options) -> Project: ...

    async def change_project(self, project: str, name: str | None, options: Options | None) -> Project: ...

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        """The first 500, or as many as wanted."""
        ...
