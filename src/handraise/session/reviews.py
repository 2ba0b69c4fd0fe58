"""What sessions of this machine changed in their working trees, and files that are reverted."""

import asyncio
import logging
import shutil
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct

from handraise.claude.beneath import NotBeneath
from handraise.claude.git_output import FileChange
from handraise.claude.git_start import START, GitStart, find_start, load_start
from handraise.claude.own_git import GitFailed
from handraise.claude.working_tree import CannotRevert, FileDiff, WorkingTree
from handraise.model.actors import Person
from handraise.model.audit import Entry
from handraise.model.items import Notice
from handraise.model.names import reveal, reveal_exactly
from handraise.model.sessions import Session
from handraise.session.machine import WishRefused
from handraise.store.changes import PublishItems, Record
from handraise.texts import t

_MOST_FOLDERS = 20
_TOKEN = 8

log = logging.getLogger("handraise.session")

ReviewSource = Literal["git", "none"]
"""`none`: no Git repository that can be read."""


class Review(Struct, frozen=True):
    """What a session changed since a commit."""

    source: ReviewSource
    commit: str = ""
    since_start: bool = False
    """It is the commit that the session started from. Otherwise it is the last one."""
    files: tuple[FileChange, ...] = ()
    more: bool = False


class Reviewer:
    """Looks at working trees. One look at a session at a time: they share an index."""

    def __init__(
        self,
        state: Path,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
    ) -> None:
        self._state = state
        self._clock = clock
        self._entropy = entropy
        self._locks: OrderedDict[str, asyncio.Lock] = OrderedDict()

    async def review(self, session: Session) -> Review:
        """Everything that changed."""
        start, since_start = self._start(session)
        if start is None:
            return Review("none")
        async with self._lock(session):
            try:
                files, more = await self._tree(session, start).changes()
            except (GitFailed, OSError) as error:
                log.warning("%s: no review: %s", session.directory, error)
                return Review("none")
        return Review("git", start.commit, since_start, tuple(files), more)

    async def file(self, session: Session, path: str) -> FileDiff | None:
        """How one file changed; None if it didn't, or isn't inside the session's directory."""
        start, _ = self._start(session)
        if start is None:
            return None
        async with self._lock(session):
            try:
                return await self._tree(session, start).file(path)
            except NotBeneath:
                return None
            except (GitFailed, OSError) as error:
                log.warning("%s: no diff: %s", session.directory, error)
                return None

    async def revert(
        self, session: Session, path: str, digest: str, by: Person, source: str
    ) -> tuple[Record, PublishItems]:
        """Makes a file what it was, if it is still as it was shown; raises WishRefused.

        Returns what to store about it: whoever has a settlement to store does both at once.
        """
        start, _ = self._start(session)
        if start is None:
            raise WishRefused(t("sessions.refused.no_review"))
        async with self._lock(session):
            try:
                shown = await self._tree(session, start).revert(path, digest, self._entropy(_TOKEN).hex())
            except (CannotRevert, NotBeneath) as error:
                raise WishRefused(t("sessions.refused.revert")) from error
            except (GitFailed, OSError) as error:
                log.warning("%s: not reverted: %s", session.directory, error)
                raise WishRefused(t("sessions.refused.no_review")) from error
        now, detail = self._clock(), {"name": path, "status": shown.status}
        entry = Entry(now, "file reverted", by, source, session=session.id, digest=digest, detail=detail)
        notice = Notice("info", t("sessions.reverted", path=reveal_exactly(path), name=reveal(by.name)))
        return Record(entry), PublishItems(session.id, now, notice)

    def _start(self, session: Session) -> tuple[GitStart | None, bool]:
        """Where it started; the repository as it is now, if nobody wrote that down."""
        recorded = load_start(self._state / "sessions" / session.id / START)
        if recorded is not None:
            return recorded, True
        return find_start(session.directory), False

    def _tree(self, session: Session, start: GitStart) -> WorkingTree:
        folders = self._state / "reviews"
        folders.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folders / session.id
        others = sorted((each for each in folders.iterdir() if each != folder), key=lambda each: each.stat().st_mtime)
        for each in others[: max(0, len(others) - _MOST_FOLDERS)]:
            if each.name not in self._locks or not self._locks[each.name].locked():
                shutil.rmtree(each, ignore_errors=True)
        return WorkingTree(start, session.directory, folder)

    def _lock(self, session: Session) -> asyncio.Lock:
        lock = self._locks.setdefault(session.id, asyncio.Lock())
        self._locks.move_to_end(session.id)
        for name in list(self._locks)[: max(0, len(self._locks) - 2 * _MOST_FOLDERS)]:
            if not self._locks[name].locked():
                del self._locks[name]
        return lock
