"""A backup while Claude waits for an answer: rolled back under a Claude that lives, and restored where none does."""

import asyncio
import json
import signal
import subprocess
from pathlib import Path

from handraise.claude.process import Identity
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Desk
from handraise.desk.remote import RemoteDesk
from handraise.model.asks import Ask
from handraise.model.items import Content, Text, TurnEnded
from stories.serving_house import command, desk, serve, settle_in, stop_all, surroundings

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
        conversation = yield [say(f"Heard: {conversation.result().text}")]


async def test_a_waiting_session_survives_a_restore_and_can_be_resumed_on_another_machine(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    backup = tmp_path / "backup.zip"
    for each in (here, there):
        each.mkdir()
    settle_in(here)
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    async with ScriptedModel({"choose": choose}) as model:
        environ = surroundings(here, model.url("choose"))
        async with serve(here, environ) as first, desk(here) as owner:
            session = (await owner.start("Choose a database.", str(tmp_path / "work"))).session.id
            ask = await open_ask(owner, session)
            code, text = await command(environ, "backup", str(backup))
            assert code == 0, text
            assert "1 session" in text
            assert "Stop it first" in (await command(environ, "restore", str(backup), "--yes"))[1]
            await first.stop()
        record = json.loads((here / "state" / "sessions" / session / "1" / "launch.json").read_bytes())
        claude = Identity(record["pid"], record["started"], record["boot"])
        assert claude.lives()

        # The disk lost the database. The backup takes its place, under a Claude that still waits.
        (here / "state" / "hub.db").write_bytes(b"not a database")
        code, text = await command(environ, "restore", str(backup), "--yes")
        assert code == 0, text
        assert "1 session still running: the hub reattaches it." in text
        async with serve(here, environ) as second, desk(here) as owner:
            assert "Reattached 1 session" in second.output
            assert (await owner.ask(ask.id)).state == "open"
            assert (await command(environ, "answer", ask.id, "--choose", "SQLite"))[0] == 0
            assert "SQLite" in await last_text(owner, session)
            await second.stop()

        # The machine is gone, with its Claude: what the backup has is restored on another one.
        claude.signal(signal.SIGKILL)
        elsewhere = surroundings(there, model.url("choose"))
        code, text = await command(elsewhere, "restore", str(backup))
        assert code == 0, text
        assert "1 session no longer running. Resume with: handraise run --resume ID" in text
        assert "Restored 1 conversation of Claude Code." in text
        start = Path("state", "sessions", session, "start.json")
        assert (there / start).read_bytes() == (here / start).read_bytes()
        async with serve(there, elsewhere) as third, RemoteDesk(there / "state" / "hub.sock") as owner:
            assert "Lost 1 session" in third.output
            found = await settled(owner, ask.id)
            assert (found.body, found.state) == (ask.body, "withdrawn")
            after = await owner.newest()
            await owner.resume(session, "Ask me again, please.")
            again = await open_ask(owner, session)
            assert (await command(elsewhere, "answer", again.id, "--choose", "Postgres"))[0] == 0
            assert "Postgres" in await last_text(owner, session, after)
            # Claude Code itself had its conversation.
            sent = [each for each in model.requests("choose") if "Ask me again" in str(each.messages)]
            assert all("Choose a database." in str(each.messages) for each in sent)
            assert sent
            await third.stop()
        assert third.errors.read_text() == ""
        await stop_all(here, environ)
        await stop_all(there, elsewhere)
        assert model.errors == []


async def open_ask(at: Desk, session: str) -> Ask:
    async with asyncio.timeout(60), at.follow(0, session) as follower:
        async for _ in follower:
            for ask in await at.asks(session=session, state="open"):
                return ask
    raise AssertionError("the feed ended")


async def settled(at: Desk, identity: str) -> Ask:
    async with asyncio.timeout(60), at.follow(0) as follower:
        async for _ in follower:
            found = await at.ask(identity)
            if found.state != "open":
                return found
    raise AssertionError("the feed ended")


async def last_text(at: Desk, session: str, after: int = 0) -> str:
    """What Claude wrote last, when its turn is over."""
    contents: list[Content] = []
    async with asyncio.timeout(60), at.follow(after, session) as follower:
        async for news in follower:
            for item in news if isinstance(news, list) else ():
                contents.append(item.read())
                if isinstance(contents[-1], TurnEnded):
                    return [each.text for each in contents if isinstance(each, Text)][-1]
    raise AssertionError("the feed ended")
