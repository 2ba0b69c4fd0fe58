"""Sessions in terminals: recorded when they ask, followed while their process runs, and ended with it."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from handraise.model.items import Said, SessionEnded, SessionStarted
from handraise.model.sessions import Session, state_of
from handraise.store.changes import SaveSession
from handraise.store.memory.store import MemoryStore
from handraise.terminals.hook_calls import HookCall
from handraise.terminals.sessions import TerminalPlace, TerminalSessions

CLAUDE = "5f0c-1"
CALL = HookCall(CLAUDE, "/work/shop", "PermissionRequest", "Bash", {"command": "ls"}, permission_mode="auto")


class Folder:
    """Claude's folder, with one session of this very process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = path / "sessions" / "1.json"
        self.transcript = path / "projects" / "p" / f"{CLAUDE}.jsonl"
        self.state.parent.mkdir(parents=True)
        self.transcript.parent.mkdir(parents=True)
        self.transcript.write_text("")
        self.show("busy")

    def show(self, status: str) -> None:
        content = {"pid": os.getpid(), "sessionId": CLAUDE, "status": status, "name": "shop-1"}
        self.state.write_text(json.dumps(content))

    def use(self, tool: str, fields: dict[str, str]) -> None:
        block = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": fields}
        message = {"role": "assistant", "id": "msg_1", "type": "message", "model": "m", "content": [block]}
        with self.transcript.open("a") as file:
            file.write(json.dumps({"type": "assistant", "uuid": "u", "message": message}) + "\n")

    def say(self, text: str) -> None:
        with self.transcript.open("a") as file:
            file.write(json.dumps({"type": "user", "uuid": text, "message": {"content": text}}) + "\n")


@asynccontextmanager
async def followed(store: MemoryStore, folder: Folder) -> AsyncIterator[TerminalSessions]:
    place = TerminalPlace(folder.path, "laptop")
    async with TerminalSessions(store, lambda: datetime.now(UTC), os.urandom, place, look=0.001) as sessions:
        yield sessions


async def until(store: MemoryStore, session: str, fits: Callable[[Session], bool]) -> Session:
    async with asyncio.timeout(30):
        while True:
            found = await store.session(session)
            if found is not None and fits(found):
                return found
            await asyncio.sleep(0.001)


async def test_a_session_that_asked_is_recorded_once_and_followed(tmp_path: Path) -> None:
    store, folder = MemoryStore(), Folder(tmp_path)
    folder.say("Sell it.")
    async with store:
        await follow_twice(store, folder)


async def follow_twice(store: MemoryStore, folder: Folder) -> None:
    async with followed(store, folder) as sessions:
        session = await sessions.seen(CALL, "p_1")
        assert session is not None
        assert await sessions.seen(CALL, "p_1") == session
        found = await until(store, session, lambda each: each.title == "Sell it.")
        assert (found.terminal, found.phase, found.mode, found.project) == ("laptop", "working", "default", "p_1")
        folder.show("idle")
        await until(store, session, lambda each: each.phase == "idle")
    # Another hub goes on where this one stopped.
    folder.say("Sell more.")
    async with followed(store, folder):
        folder.state.unlink()
        ended = await until(store, session, lambda each: each.ended is not None)
        assert (ended.phase, ended.terminal, ended.title) == ("ended", "laptop", "Sell it.")
    contents = [item.read() for item in await store.items(session=session, limit=100)]
    assert [each.text for each in contents if isinstance(each, Said)] == ["Sell it.", "Sell more."]
    assert [type(each) for each in contents if isinstance(each, SessionStarted | SessionEnded)] == [
        SessionStarted,
        SessionEnded,
    ]


async def test_a_session_of_the_hub_that_is_continued_in_a_terminal_is_not_shown_twice(tmp_path: Path) -> None:
    store, folder = MemoryStore(), Folder(tmp_path)
    folder.say("Before.")
    now = datetime.now(UTC)
    async with store, followed(store, folder) as sessions:
        await store.apply([SaveSession(Session("s_1", None, "/work/shop", CLAUDE, "Shop", now, now, "ended", run=2))])
        assert await sessions.seen(CALL, None) == "s_1"
        folder.say("After.")
        folder.state.unlink()
        found = await until(store, "s_1", lambda each: each.ended is not None)
        assert (found.run, found.title, found.terminal) == (3, "Shop", "laptop")
        contents = [item.read() for item in await store.items(session="s_1", limit=100)]
        assert [each.text for each in contents if isinstance(each, Said)] == ["After."]


async def test_a_dialog_that_no_ask_stands_for_needs_a_person_in_the_terminal_until_it_is_gone(tmp_path: Path) -> None:
    store, folder = MemoryStore(), Folder(tmp_path)
    async with store:
        async with followed(store, folder) as sessions:
            session = await sessions.seen(CALL, None)
            assert session is not None
            folder.use("Bash", {"command": "make"})
            await until(store, session, lambda each: each.phase == "working")
        # Up while no hub was there.
        folder.show("waiting")
        async with followed(store, folder):
            found = await until(store, session, lambda each: bool(each.dialog))
            assert found.dialog == "Answer in the terminal on laptop: $ make"
            assert state_of(found, 0) == "needs you"
            folder.show("busy")
            found = await until(store, session, lambda each: not each.dialog)
            assert state_of(found, 0) == "working"
            folder.show("waiting")
            await until(store, session, lambda each: bool(each.dialog))
            folder.state.unlink()
            found = await until(store, session, lambda each: each.ended is not None)
            assert found.dialog == ""


async def test_nothing_is_recorded_about_a_process_that_is_not_there(tmp_path: Path) -> None:
    store, folder = MemoryStore(), Folder(tmp_path)
    folder.state.unlink()
    async with store, followed(store, folder) as sessions:
        assert await sessions.seen(CALL, None) is None
        assert await store.sessions() == []
