"""What people look at in the files of sessions, wherever those run: here directly, elsewhere by a lookup.

The hub of the other machine answers it. That hub finds the session itself, so a lookup names no directory, except when
a person browses for one. Who may look is decided here, before: hubs with one database trust each other.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, assert_never

from msgspec import MsgspecError, Raw, Struct, msgpack
from msgspec.structs import replace

import handraise
from handraise.claude.git_output import FileStatus
from handraise.claude.tool_pictures import ToolPictures
from handraise.claude.working_tree import FileDiff
from handraise.desk.interface import Refused
from handraise.hub.directories import DirectoryListing, DirectoryRefused, list_directories
from handraise.hub.file_finder import FileFinder
from handraise.model.actors import Person
from handraise.model.sessions import Session
from handraise.session.remote import Dispatcher
from handraise.session.reviews import Review, Reviewer
from handraise.store.interface import MOST_ANSWER, Store, Unanswered
from handraise.texts import t

PATIENCE = 15.0
"""How long a person waits for what is on another machine, in seconds: less than the page waits for its hub."""
_AT_ONCE = 4
"""How many wait for one machine: one that hangs doesn't hold up the others."""
_LONGEST = 16 * 1024
_SLOW = 10.0
_LISTINGS = 4

T = TypeVar("T")

log = logging.getLogger("handraise.hub")


class ReviewLookup(Struct, frozen=True, tag="review"):
    """What a session changed."""

    session: str


class DiffLookup(Struct, frozen=True, tag="diff"):
    """How one file changed."""

    session: str
    path: str


class FilesLookup(Struct, frozen=True, tag="files"):
    """Files that fit what was typed."""

    session: str
    typed: str


class PictureLookup(Struct, frozen=True, tag="picture"):
    """An image that a tool returned."""

    session: str
    action: str
    number: int


class DirectoriesLookup(Struct, frozen=True, tag="directories"):
    """The directories inside one."""

    path: str
    starting: str


Lookup = ReviewLookup | DiffLookup | FilesLookup | PictureLookup | DirectoriesLookup


class LookupReply(Struct, frozen=True):
    """`refused` has a sentence as its reason; `unlisted` a directory, and why; `unknown` is a newer hub's lookup."""

    state: Literal["found", "refused", "unlisted", "unknown", "large", "failed"]
    found: Raw = Raw(msgpack.encode(None))
    reason: str = ""


class SentDiff(Struct, frozen=True):
    """A FileDiff on its way. Files needn't be text, so the diff is bytes."""

    status: FileStatus
    diff: bytes | None
    problem: str = ""


_LOOKUP = msgpack.Decoder(Lookup)
_REPLY = msgpack.Decoder(LookupReply)
_REVIEW = msgpack.Decoder(Review)
_DIFF: msgpack.Decoder[SentDiff | None] = msgpack.Decoder(SentDiff | None)
_FILES = msgpack.Decoder(tuple[list[str], bool])
_PICTURE: msgpack.Decoder[dict[str, Any] | None] = msgpack.Decoder(dict[str, Any] | None)
_LISTING = msgpack.Decoder(DirectoryListing)


class OwnFiles:
    """Those of this machine. `start` is the directory where browsing begins; `hidden` are the hub's own."""

    def __init__(
        self, reviewer: Reviewer, finder: FileFinder, pictures: ToolPictures, start: str, hidden: Sequence[Path]
    ) -> None:
        self.reviewer = reviewer
        self.finder = finder
        self.pictures = pictures
        self._start = start
        self._hidden = tuple(hidden)
        self._room = asyncio.Semaphore(_LISTINGS)

    async def directories(self, path: str, starting: str) -> DirectoryListing:
        """Raises DirectoryRefused."""
        path = path or self._start
        try:
            # A network drive may hang: a few threads at most wait for it, and the person doesn't.
            async with asyncio.timeout(_SLOW), self._room:
                return await asyncio.to_thread(list_directories, path, starting, self._hidden)
        except TimeoutError as error:
            raise DirectoryRefused(path, "slow") from error


class FileAccess:
    """For people at this hub; `serve` is the other end, for the hubs of other machines."""

    def __init__(self, own: OwnFiles, store: Store, owns: Callable[[Session], bool], dispatcher: Dispatcher) -> None:
        self._own = own
        self._store = store
        self._owns = owns
        self._dispatcher = dispatcher
        self._rooms: dict[str, asyncio.Semaphore] = {}

    async def review(self, session: Session) -> Review:
        """What a session changed; raises Refused if its machine doesn't say."""
        if self._owns(session):
            return await self._own.reviewer.review(session)
        return await self._look_up(session.machine, ReviewLookup(session.id), _REVIEW)

    async def diff(self, session: Session, path: str) -> FileDiff | None:
        """How one file changed; None if it didn't, or isn't inside the session's directory. Raises Refused."""
        if self._owns(session):
            return await self._own.reviewer.file(session, path)
        sent = await self._look_up(session.machine, DiffLookup(session.id, path), _DIFF)
        if sent is None:
            return None
        text = None if sent.diff is None else sent.diff.decode(errors="surrogateescape")
        return FileDiff(path, sent.status, text, sent.problem)

    async def revert(self, session: Session, path: str, digest: str, by: Person, source: str) -> None:
        """Makes a file what it was, if it is still as it was shown; raises WishRefused. Never done twice."""
        if self._owns(session):
            await self._store.apply(await self._own.reviewer.revert(session, path, digest, by, source))
        else:
            await self._dispatcher.give(session, "revert", by, source, f"{digest} {path}")

    async def files(self, session: Session, typed: str) -> tuple[list[str], bool]:
        """The paths that fit best what was typed, and whether all files were looked at; raises Refused."""
        if self._owns(session):
            return await self._own.finder.find(session.directory, typed)
        return await self._look_up(session.machine, FilesLookup(session.id, typed), _FILES)

    async def files_in(self, path: str, typed: str) -> tuple[list[str], bool]:
        """The same in a directory of this machine, before there is a session; raises DirectoryRefused or Refused."""
        listing = await self._own.directories(path, "")
        return await self._own.finder.find(listing.path, typed)

    async def picture(self, session: Session, action: str, number: int) -> dict[str, Any] | None:
        """An image that a tool returned, as Claude Code wrote it; None if it is gone. Raises Refused."""
        if self._owns(session):
            return await self._own.pictures.find(session.id, action, number)
        return await self._look_up(session.machine, PictureLookup(session.id, action, number), _PICTURE)

    async def directories(self, machine: str, path: str, starting: str) -> DirectoryListing:
        """The directories inside one; raises DirectoryRefused or Refused. `machine` is an ID; empty: this one."""
        if machine in ("", self._store.machine):
            return await self._own.directories(path, starting)
        return await self._look_up(machine, DirectoriesLookup(path, starting), _LISTING)

    async def serve(self, question: bytes) -> bytes:
        """Answers another hub. Whatever goes wrong, there is an answer."""
        reply = msgpack.encode(await self._reply(question))
        return reply if len(reply) <= MOST_ANSWER else msgpack.encode(LookupReply("large"))

    async def _reply(self, question: bytes) -> LookupReply:
        try:
            wanted = _LOOKUP.decode(question)
        except MsgspecError:
            return LookupReply("unknown")
        try:
            return LookupReply("found", Raw(msgpack.encode(await self._found(wanted))))
        except Refused as error:
            return LookupReply("refused", reason=str(error))
        except DirectoryRefused as error:
            return LookupReply("unlisted", Raw(msgpack.encode(error.path)), error.reason)
        except Exception:  # whoever asked must hear of it, whatever went wrong
            log.exception("a lookup of another hub failed")
            return LookupReply("failed")

    async def _found(self, wanted: Lookup) -> object:
        if isinstance(wanted, DirectoriesLookup):
            return await self._own.directories(wanted.path, wanted.starting)
        session = await self._store.session(wanted.session)
        if session is None or not self._owns(session):
            raise Refused(t("error.lookup.not_here"))
        match wanted:
            case ReviewLookup():
                review = await self._own.reviewer.review(session)
                return replace(review, files=tuple(replace(each, path=as_text(each.path)) for each in review.files))
            case DiffLookup(_, path):
                return _sent(await self._own.reviewer.file(session, path))
            case FilesLookup(_, typed):
                return await self._own.finder.find(session.directory, typed)
            case PictureLookup(_, action, number):
                return await self._own.pictures.find(session.id, action, number)
            case _:
                assert_never(wanted)

    async def _look_up(self, machine: str, wanted: Lookup, shape: msgpack.Decoder[T]) -> T:
        machine = machine or self._store.machine
        try:
            question = msgpack.encode(wanted)
        except UnicodeEncodeError as error:
            raise Refused(t("error.lookup.unreadable")) from error
        if len(question) > _LONGEST:
            raise Refused(t("error.lookup.unreadable"))
        room = self._rooms.setdefault(machine, asyncio.Semaphore(_AT_ONCE))
        try:
            async with asyncio.timeout(PATIENCE), room:
                answer = await self._store.look_up(machine, question, PATIENCE)
        except Unanswered as error:
            raise await self._refusal(machine, error.why) from error
        except TimeoutError as error:
            raise await self._refusal(machine, "silent") from error
        try:
            reply = _REPLY.decode(answer)
            if reply.state == "found":
                return shape.decode(reply.found)
            if reply.state == "unlisted":
                raise DirectoryRefused(msgpack.decode(reply.found, type=str), reply.reason)
        except MsgspecError as error:
            # Of another version.
            raise await self._refusal(machine, "unknown") from error
        if reply.state == "refused":
            raise Refused(reply.reason)
        raise await self._refusal(machine, reply.state)

    async def _refusal(self, machine: str, why: Literal["away", "silent", "unknown", "large", "failed"]) -> Refused:
        found = next((each for each in await self._store.machines() if each.id == machine), None)
        name = found.name if found is not None else machine
        if found is None or found.away_since is not None or why == "away":
            return Refused(t("error.lookup.away", machine=name))
        if why == "silent" and found.version == handraise.__version__:
            return Refused(t("error.lookup.silent", machine=name))
        if why in ("silent", "unknown"):
            return Refused(t("error.lookup.version", machine=name, there=found.version, here=handraise.__version__))
        return Refused(t("error.lookup.large" if why == "large" else "error.lookup.failed", machine=name))


def as_text(path: str) -> str:
    """A name that isn't text can be listed, but not opened."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _sent(diff: FileDiff | None) -> SentDiff | None:
    if diff is None:
        return None
    content = None if diff.diff is None else diff.diff.encode(errors="surrogateescape")
    return SentDiff(diff.status, content, diff.problem)
