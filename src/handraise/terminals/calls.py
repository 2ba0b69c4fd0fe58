"""The requests of Claudes that people run in a terminal: each is an ask until somebody decides, here or there."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.agents.calls import DirectoryContext, HubContext
from handraise.inbox.considering import Surroundings
from handraise.inbox.inbox import Inbox
from handraise.model import ids
from handraise.model.asks import Ask, Origin
from handraise.model.projects import Patience
from handraise.terminals.claude_folder import Transcript, live_session
from handraise.terminals.dialogs import AgentDialog, CallTrace, Decider, Fate, TerminalDialog
from handraise.terminals.hook_calls import HookCall, body_of_hook, decision_of
from handraise.terminals.sessions import TerminalPlace, TerminalSessions
from handraise.texts import t

PREFIX = "terminal/"
"""How the references of these asks begin."""
LOOK = 0.1
"""How often Claude's state is read while it waits, in seconds."""
_SETTLING = 10.0
"""How long Claude may take, on a busy machine, to write down that a dialog is gone after it closed the connection."""
UNSEEN = 600.0
"""How long people are asked here while Claude Code shows no dialog of its own, in seconds.

Then a sub-agent's dialog is shown in the terminal, and only the terminal can answer; or `claude -p` denies the call. So
people get time to pick up their phone."""
_LONGEST_TOOL = 3600.0
"""How long a decision is looked for in the transcript: Claude Code may write it when the tool has finished."""
_PATIENT = Patience()
"""A dialog in a terminal waits as long as the person likes."""

Gone = Literal["claude", "hub"]
"""Who ended a connection."""

log = logging.getLogger("handraise.agents")


class TerminalContext(Struct, frozen=True):
    """What these calls need from the rest of the hub, besides what all external agents need."""

    hub: HubContext
    entropy: Callable[[int], bytes]
    place: TerminalPlace


class TerminalCalls:
    """Entered with `async with`, inside the inbox's. Leaving it ends every wait, and the dialogs go on alone."""

    def __init__(
        self,
        inbox: Inbox,
        sessions: TerminalSessions,
        context: TerminalContext,
        *,
        look: float = LOOK,
        unseen: float = UNSEEN,
    ) -> None:
        self._inbox = inbox
        self._sessions = sessions
        self._context = context
        self._look = look
        self._most_looks = int(unseen / look)
        self._waiting: dict[str, asyncio.Future[Ask]] = {}
        self._open: dict[str, tuple[str, str]] = {}
        """Open requests by their key: the ask, and the token that carried it."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening = ExitStack()

    async def __aenter__(self) -> Self:
        self._listening.enter_context(self._inbox.listening(self._ask_settled))
        for ask in await self._context.hub.left_open():
            # Its connection ended with the hub that held it. The dialog may still be there.
            call = msgspec.json.decode(ask.origin.request, type=HookCall)
            await self._inbox.withdraw(ask.id, await asyncio.to_thread(self._found, call.session_id))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def decide(self, call: HookCall, token: str, gone: Callable[[], Awaitable[Gone]]) -> dict[str, Any]:
        """The hook's response, once somebody decided. `gone` ends when the connection does. Raises MalformedInput."""
        observed = await asyncio.to_thread(_Observed, self._context.place.folder, call, self._most_looks)
        ask = await self._raise(call, token)
        if ask.settlement is None:
            ask = await self._settled(ask, call, token, observed, gone)
        decision = decision_of(ask, call)
        if decision:
            self._spawn(self._confirm(ask, observed))
        return decision

    async def _raise(self, call: HookCall, token: str) -> Ask:
        """Opens an ask, or finds the one that another hook of the same Claude opened for the same request."""
        found = self._open.get(call.key)
        if found is not None and found[1] != token:
            return await self._inbox.find(found[0])
        body = body_of_hook(call)
        where = await self._context.hub.whereabouts(call.cwd)
        identity = ids.spell("a", self._context.entropy(ids.ENTROPY))
        session = await self._sessions.seen(call, where.project)
        ask = Ask(
            id=identity,
            session=session,
            project=where.project,
            body=body,
            tool=call.tool_name,
            origin=Origin(f"{PREFIX}{call.session_id}/{identity}", request=msgspec.json.encode(call).decode()),
            opened_at=self._context.hub.clock(),
            asker="agent" if session is None else "session",
            agent=None if session is not None else t("sessions.terminal.agent", host=self._context.place.host),
        )
        return await self._inbox.open(ask, self._around(call, where))

    def _around(self, call: HookCall, where: DirectoryContext) -> Surroundings:
        around = self._context.hub.surroundings(call.cwd, where)
        return replace(around, mode=call.permission_mode or around.mode, patience=_PATIENT)

    async def _settled(
        self, ask: Ask, call: HookCall, token: str, observed: "_Observed", gone: Callable[[], Awaitable[Gone]]
    ) -> Ask:
        """The ask once it is settled, here or by what happens in the terminal."""
        future: asyncio.Future[Ask] = asyncio.get_running_loop().create_future()
        future = self._waiting.setdefault(ask.id, future)
        self._open.setdefault(call.key, (ask.id, token))
        fate = asyncio.ensure_future(self._watch(observed))
        closed = asyncio.ensure_future(gone())
        try:
            found = await self._inbox.find(ask.id)  # it may have been settled before we listened
            if found.settlement is not None:
                return found
            first: list[asyncio.Future[Any]] = [future, fate, closed]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                await self._inbox.withdraw(ask.id, _reason(await _fate(fate, closed), observed.is_in_editor))
            return await self._inbox.find(ask.id)
        except asyncio.CancelledError:
            # Its token was revoked: no answer can reach the dialog from here.
            self._spawn(self._inbox.withdraw(ask.id, _reason("waiting", observed.is_in_editor)))
            raise
        finally:
            for task in (fate, closed):
                task.cancel()
            await asyncio.gather(fate, closed, return_exceptions=True)
            if self._open.get(call.key) == (ask.id, token):
                del self._open[call.key]

    async def _watch(self, observed: "_Observed") -> Fate:
        """What becomes of the dialog, once it is no longer there."""
        while True:
            seen = await asyncio.to_thread(observed.look)
            if seen != "waiting":
                return seen
            await asyncio.sleep(self._look)

    async def _confirm(self, ask: Ask, observed: "_Observed") -> None:
        """Delivered only if the transcript says that the hook decided: the terminal may have been faster."""
        async with asyncio.timeout(_LONGEST_TOOL):
            decided = await asyncio.to_thread(observed.decided)
            while decided is None and await asyncio.to_thread(observed.is_alive):
                await asyncio.sleep(self._look)
                decided = await asyncio.to_thread(observed.decided)
        if decided == "hook":
            await self._inbox.delivered(ask.id)
        else:
            log.info("ask %s: the terminal was faster", ask.id)

    def _found(self, session: str) -> str:
        """What became of a dialog of which only an earlier hub knew."""
        folder = self._context.place.folder
        live = live_session(folder, session) if folder is not None else None
        if folder is None:
            return _reason("waiting", in_editor=False)
        if live is None:
            return _reason("ended", in_editor=False)
        return _reason("waiting" if live.waits else "answered", live.is_in_editor)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.warning("could not find out whether an answer reached the terminal", exc_info=task.exception())

    def _ask_settled(self, ask: Ask) -> None:
        future = self._waiting.pop(ask.id, None)
        if future is not None and not future.done():
            future.set_result(ask)


class _Observed:
    """One dialog and its Claude's files."""

    def __init__(self, folder: Path | None, call: HookCall, most_looks: int) -> None:
        self._folder = folder
        self._session = call.session_id
        live = live_session(folder, call.session_id) if folder is not None else None
        self.is_in_editor = live is not None and live.is_in_editor
        # An editor shows all dialogs, also those of sub-agents in the background.
        is_hidden = bool(call.agent_id) and (live is None or live.is_interactive)
        self._dialog: AgentDialog | TerminalDialog = (
            AgentDialog(most_looks) if is_hidden else TerminalDialog(most_looks, is_of_agent=bool(call.agent_id))
        )
        self._trace = CallTrace(call.tool_name, call.tool_input)
        self._transcript = Transcript(folder, *_transcript_of(call)) if folder is not None else None
        # A look that was cancelled goes on in its thread while the next begins.
        self._one_at_a_time = threading.Lock()
        if self._transcript is not None:
            self._trace.read_earlier(self._transcript.lines())

    def look(self) -> Fate:
        live = live_session(self._folder, self._session) if self._folder is not None else None
        decided = self.decided()
        with self._one_at_a_time:
            return self._dialog.look(live, decided)

    def decided(self) -> Decider | None:
        with self._one_at_a_time:
            if self._transcript is not None:
                self._trace.read(self._transcript.lines())
            return self._trace.decided

    def is_alive(self) -> bool:
        return self._folder is not None and live_session(self._folder, self._session) is not None


def _transcript_of(call: HookCall) -> tuple[str, str]:
    """Where the call is written down, and what that file is called."""
    if not call.agent_id:
        return call.transcript_path, call.session_id
    name = f"agent-{call.agent_id}"
    return f"{call.transcript_path.removesuffix('.jsonl')}/subagents/{name}.jsonl", name


async def _fate(fate: asyncio.Future[Fate], closed: asyncio.Future[Gone]) -> Fate:
    """A dialog that closed its connection was answered, or still waits (the hook's timeout): Claude's files tell."""
    if closed.done() and closed.result() == "claude":
        await asyncio.wait([fate], timeout=_SETTLING)
    return fate.result() if fate.done() else "waiting"


def _reason(seen: Fate, in_editor: bool) -> str:
    where = "editor" if in_editor else "terminal"
    match seen:
        case "answered":
            return t(f"sessions.withdrawn.{where}_answered")
        case "ended":
            return t(f"sessions.withdrawn.{where}_ended")
        case "waiting":
            return t(f"sessions.withdrawn.{where}_waits")
        case "hidden":
            return t("sessions.withdrawn.terminal_hidden")
        case "absent":
            return t("sessions.withdrawn.terminal_absent")
