"""Starts Claude for a session, in its sandbox, and finds it again: everything about one start, and nothing of when."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from handraise.claude import claude, sandbox
from handraise.claude.claude import Claude, NobodyThere, NotStarted
from handraise.claude.folder import SessionBusy, take_lock
from handraise.claude.git_start import START, find_start, save_start
from handraise.claude.sandbox_support import SandboxSupport
from handraise.claude.versions import SAFE_SINCE, VersionCache, is_unsafe
from handraise.claude.watch import FileWatch
from handraise.model.items import Notice, SessionStarted
from handraise.model.projects import Options, OwnFile, no_own_file
from handraise.model.sessions import Checkpoint, Ended, Say, Session
from handraise.session import launching, phases, records, titles
from handraise.session.launching import StartContext
from handraise.session.machine import SessionLimits, WishRefused
from handraise.session.memory import Memory
from handraise.session.says import messages_again
from handraise.session.trust_check import TrustCheck
from handraise.store.changes import Advance, PublishItems, QueueSay, SaveSession
from handraise.store.interface import Store
from handraise.store.waiting import insist
from handraise.texts import t

_RECORD_AGAIN = 0.05
_RECORD_TRIES = 200

log = logging.getLogger("handraise.session")


class ClaudeConfig(Struct, frozen=True):
    """What it takes to run Claude."""

    program: Path
    environment: Mapping[str, str]
    state: Path
    clock: Callable[[], datetime]
    entropy: Callable[[int], bytes]
    limits: SessionLimits
    options: Options
    """What applies unless a project sets it."""
    wall: SandboxSupport
    """Whether a sandbox is available."""
    limit: int = 8
    hidden: tuple[Path, ...] = ()
    """What no sandbox contains, besides the state folder."""
    writable: tuple[str, ...] = ()
    """Directories that every sandbox may write to."""
    own_file: Callable[[str], OwnFile] = no_own_file
    """Reads a directory's own settings file when a session starts there; raises OwnFileUnfit."""

    def uuid(self) -> str:
        """An id for a conversation or a message, in Claude's format."""
        return str(UUID(bytes=self.entropy(16), version=4))


class ClaudeStarter:
    """Stores that a session starts before its process exists."""

    def __init__(self, config: ClaudeConfig, store: Store, trusting: TrustCheck, watch: FileWatch) -> None:
        self._config = config
        self._store = store
        self._trusting = trusting
        self._watch = watch
        self.versions = VersionCache()

    @property
    def unsafe_version(self) -> str:
        """The version of Claude Code, if it is unsafe; empty if it is safe or not known yet."""
        version = self.versions.latest
        return version if version and is_unsafe(version) else ""

    async def find_unsafe_version(self) -> str:
        """As `unsafe_version`, once the version is known."""
        await self.versions.of(self._config.program)
        return self.unsafe_version

    async def start(self, session: Session, options: Options, footing: StartContext) -> tuple[Session, Claude | None]:
        """The session as it is stored from then on, and its Claude; None if it could not be started."""
        left_at = await self._store.checkpoint(session.id)
        old = Memory.load(left_at.memory) if left_at else Memory()
        version = await self.versions.of(self._config.program)
        says = [] if left_at else await self._store.says(session.id, waiting=False)
        untouched = titles.of_message(says[0].content) if says else ""
        memory = launching.memory_for(session, old, self._config.entropy(16).hex(), version, untouched)
        now = self._config.clock()
        # Claude refuses to start with an id it has used before, even if nothing came of it.
        renamed = session.run > 0 and memory.way != "resume"
        claude_id = self._config.uuid() if renamed else session.claude_id
        phase = phases.after(session.phase, "launched")
        started = replace(session, claude_id=claude_id, phase=phase, run=session.run + 1, changed_at=now)
        preset = self._preset(options)
        item = SessionStarted(
            session.title, session.project, session.directory, session.mode, session.model, started.run, preset
        )
        warnings = [self._no_sandbox()] if preset == "none" else []
        warnings += [self._unsafe(version)] if version and is_unsafe(version) else []
        again = await self._messages_again(session, old, now) if memory.missing else []
        checkpoint = Checkpoint(session.id, started.run, 0, memory.dump())
        parent = await self._store.session(session.forked_from) if session.forked_from else None
        # Stored before the process exists: a hub killed in between leaves a session without a process in its folder.
        await self._store.apply(
            [
                SaveSession(started),
                Advance(checkpoint),
                PublishItems(session.id, now, item),
                *(PublishItems(session.id, now, warning) for warning in warnings),
                *await self._trusting.started(started, footing),
                *(QueueSay(say) for say in again),
            ]
        )
        launch = launching.launch_of(started, memory, options, parent, footing)
        config = self._config
        self._remember_start(started)
        try:
            self._check_mode(session.mode, version)
            running = await claude.start(
                config.program,
                launch,
                self._folder(started),
                config.state / "locks",
                self._watch,
                footing.environment(config.environment),
                self._sandbox(preset, session.directory, options),
            )
        except (WishRefused, NotStarted, SessionBusy, sandbox.SandboxUnfit, OSError) as error:
            how = Ended("failed", str(error), config.clock())
            await insist(lambda: self._store.apply(records.ended(started, "failed", how)), log)
            return started, None
        return started, running

    def _remember_start(self, session: Session) -> None:
        """The commit that its changes are compared with later. Its own commits are changes, too."""
        start = find_start(session.directory) if session.run == 1 else None
        if start is not None:
            # Without it, changes are compared with the last commit.
            with suppress(OSError):
                save_start(self._config.state / "sessions" / session.id / START, start)

    def _preset(self, options: Options) -> str:
        """The sandbox preset of a session; `none` if the default one isn't available."""
        wanted = options.sandbox or "open"
        return "none" if wanted == "open" and self._config.wall.missing else wanted

    async def check_mode(self, mode: str) -> None:
        """Raises WishRefused if Claude Code is too old for this mode."""
        self._check_mode(mode, await self.versions.of(self._config.program))

    def _check_mode(self, mode: str, version: str) -> None:
        refusal = self._config.limits.refusal_of(mode, version)
        if refusal:
            raise WishRefused(refusal)

    def _unsafe(self, version: str) -> Notice:
        return Notice("warning", t("sessions.notice.unsafe", version=version, safe=SAFE_SINCE), "unsafe")

    def _no_sandbox(self) -> Notice:
        return Notice("warning", t("sessions.notice.no_sandbox", why=self._config.wall.missing), "sandbox")

    def _sandbox(self, preset: str, directory: str, options: Options) -> dict[str, Any] | None:
        """The sandbox plan; raises SandboxUnfit if a configured sandbox isn't available."""
        config = self._config
        if preset in ("off", "none"):
            return None
        if config.wall.missing:
            missing, advice = config.wall.missing, config.wall.advice
            raise sandbox.SandboxUnfit(
                t("sessions.start.no_sandbox", preset=repr(preset), missing=missing, advice=advice)
            )
        wanted = sandbox.Sandbox(preset=preset, directory=directory, writable=(*options.add_dirs, *config.writable))
        known = sandbox.sandbox_context([config.state, *config.hidden], config.environment)
        sandbox.prepare(known)
        return sandbox.plan(wanted, known)

    async def _messages_again(self, session: Session, old: Memory, now: datetime) -> list[Say]:
        says = await self._store.says(session.id, waiting=False)
        return messages_again(old, says, await self._store.asks(session=session.id), now)

    async def find(self, session: Session) -> Claude:
        """Waits for one that was started as the last hub was killed: it holds the lock before it has a record."""
        folder = self._folder(session)
        for _ in range(_RECORD_TRIES):
            with suppress(NobodyThere):
                return claude.adopt(folder, self._watch)
            if not self._is_locked(session.claude_id):
                break
            await asyncio.sleep(_RECORD_AGAIN)
        return claude.adopt(folder, self._watch)

    def _is_locked(self, claude_id: str) -> bool:
        try:
            os.close(take_lock(self._config.state / "locks", claude_id))
        except SessionBusy:
            return True
        return False

    def _folder(self, session: Session) -> Path:
        return self._config.state / "sessions" / session.id / str(session.run)
