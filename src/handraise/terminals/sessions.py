"""Follows Claudes in terminals that the hub has heard of: their record and their timeline, until they exit."""

import asyncio
import logging
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from handraise.model import ids
from handraise.model.actors import Person
from handraise.model.items import Content, SessionStarted
from handraise.model.sessions import Checkpoint, Ended, Phase, Session
from handraise.session import records
from handraise.session.memory import Memory
from handraise.store.changes import Advance, Change, PublishItems, SaveSession
from handraise.store.interface import Store, StoreAway, StoreClosed, StoreFenced
from handraise.terminals.claude_folder import live_session
from handraise.terminals.dialogs import LiveSession, LoneDialog
from handraise.terminals.hook_calls import HookCall
from handraise.terminals.session_files import SessionFiles, transcript_size
from handraise.texts import t

LOOK = 0.5
"""How often a session is looked at, in seconds."""
_AGAIN = 1.0
_MODES = ("default", "acceptEdits", "plan")
_OWNER = Person("owner")

log = logging.getLogger("handraise.terminals")


class TerminalPlace(Struct, frozen=True):
    """Where Claudes in terminals are found."""

    folder: Path | None
    """Claude's folder; None if it is unknown."""
    host: str
    """What this machine is called."""


class TerminalSessions:
    """Entered with `async with`, inside the store's. Leaving it stops following; the next hub goes on."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        place: TerminalPlace,
        *,
        look: float = LOOK,
    ) -> None:
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._place = place
        self._look = look
        self._one_at_a_time = asyncio.Lock()
        self._following: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        for session in await self._store.sessions(["idle", "working"]):
            if session.terminal and self._is_ours(session):
                self._follow(session, was_up=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = list(self._following.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def seen(self, call: HookCall, project: str | None) -> str | None:
        """The session of a Claude that asked; None if nothing is known about its process."""
        live = await asyncio.to_thread(self._live, call.session_id)
        if live is None:
            return None
        async with self._one_at_a_time:
            sessions = [each for each in await self._store.sessions() if self._is_ours(each)]
            known = [each for each in sessions if each.claude_id == call.session_id]
            session = known[0] if known else self._new(call, live, project)
            if not session.terminal or session.ended is not None:
                session = await self._begin(session, call)
            self._follow(session)
        return session.id

    def _live(self, claude_id: str) -> LiveSession | None:
        return live_session(self._place.folder, claude_id) if self._place.folder is not None else None

    def _new(self, call: HookCall, live: LiveSession, project: str | None) -> Session:
        now = self._clock()
        identity = ids.spell("s", self._entropy(ids.ENTROPY))
        title = live.name or os.path.basename(call.cwd)
        mode = call.permission_mode if call.permission_mode in _MODES else "default"
        return Session(
            identity,
            project or call.cwd,
            call.cwd,
            call.session_id,
            title,
            now,
            now,
            mode=mode,
            machine=self._store.machine,
        )

    def _is_ours(self, session: Session) -> bool:
        """Whether it runs on this machine: only here are its files."""
        return session.machine in ("", self._store.machine)

    async def _begin(self, session: Session, call: HookCall) -> Session:
        """Its process is up, as far as we know for the first time."""
        now, run = self._clock(), session.run + 1
        begun = replace(
            session,
            phase="working",
            run=run,
            ended=None,
            stuck_since=None,
            changed_at=now,
            terminal=self._place.host,
            dialog="",
        )
        left_at = await self._store.checkpoint(session.id)
        memory = Memory.load(left_at.memory) if left_at else Memory(turn=1, title=session.title, mode=session.mode)
        # What the hub ran before is on the timeline already.
        offset = await asyncio.to_thread(transcript_size, self._place.folder, call.session_id) if session.run else 0
        item = SessionStarted(
            session.title,
            session.project,
            session.directory,
            session.mode,
            session.model,
            run,
            terminal=self._place.host,
        )
        checkpoint = Checkpoint(session.id, run, offset, replace(memory, claude_id=call.session_id).dump())
        await self._store.apply([SaveSession(begun), Advance(checkpoint), PublishItems(session.id, now, item)])
        return begun

    def _follow(self, session: Session, *, was_up: bool = False) -> None:
        if session.id not in self._following:
            task = asyncio.get_running_loop().create_task(self._run(session.id, LoneDialog(was_up=was_up)))
            self._following[session.id] = task
            task.add_done_callback(lambda _: self._following.pop(session.id, None))

    async def _run(self, session_id: str, lone: LoneDialog) -> None:
        try:
            await self._keep_trying(session_id, lone)
        except (StoreFenced, StoreClosed) as error:
            log.warning("session %s in a terminal is not followed any further: %s", session_id, error)
        except Exception:  # the outer door: a file of Claude's that surprises us must not go unnoticed
            log.exception("session %s in a terminal is not followed any further", session_id)

    async def _keep_trying(self, session_id: str, lone: LoneDialog) -> None:
        """A database that is away only interrupts it."""
        while True:
            try:
                return await self._keep_following(session_id, lone)
            except StoreAway as error:
                log.warning("session %s in a terminal is held up: %s", session_id, error)
                await asyncio.sleep(_AGAIN)

    async def _keep_following(self, session_id: str, lone: LoneDialog) -> None:
        files: SessionFiles | None = None
        while True:
            session = await self._store.session(session_id)
            checkpoint = await self._store.checkpoint(session_id)
            if session is None or checkpoint is None or not session.terminal or session.ended is not None:
                return
            if files is None:
                files = SessionFiles(self._place.folder, session, checkpoint.offset, _OWNER)
            live, contents = await asyncio.to_thread(files.look)
            is_alone = lone.look(live, await self._has_ask(session_id, live))
            dialog = self._dialog(live, files.pending) if is_alone and live is not None else ""
            changes = self._changes(session, live, contents, replace(session, title=files.title, dialog=dialog))
            if changes or files.offset != checkpoint.offset:
                await self._store.apply([*changes, Advance(replace(checkpoint, offset=files.offset))])
            await asyncio.sleep(self._look)

    async def _has_ask(self, session_id: str, live: LiveSession | None) -> bool:
        return live is not None and live.waits and bool(await self._store.asks(session=session_id, state="open"))

    def _dialog(self, live: LiveSession, pending: str) -> str:
        host = self._place.host
        match live.is_in_editor, bool(pending):
            case True, True:
                return t("sessions.terminal.editor_dialog_for", host=host, what=pending)
            case True, False:
                return t("sessions.terminal.editor_dialog", host=host)
            case False, True:
                return t("sessions.terminal.dialog_for", host=host, what=pending)
            case _:
                return t("sessions.terminal.dialog", host=host)

    def _changes(
        self, before: Session, live: LiveSession | None, contents: list[Content], current: Session
    ) -> list[Change]:
        now = self._clock()
        items = [PublishItems(before.id, now, each) for each in contents]
        phase: Phase = "idle" if live is not None and live.status == "idle" else "working"
        current = replace(current, phase=phase)
        if live is None:
            over = Ended("finished", t("sessions.ended.terminal"), now)
            return [*items, *records.ended(current, "exited", over)]
        note = current.dialog if current.dialog != before.dialog else ""
        changed = records.changed(replace(current, changed_at=now), note) if current != before else []
        return [*items, *changed]
