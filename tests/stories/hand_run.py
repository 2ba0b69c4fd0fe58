"""A Claude that a person runs in a terminal, beside a hub: the real interactive program on a pseudo-terminal."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from handraise.claude.locate import locate
from handraise.cli.client import HubClient
from handraise.demo.pieces import Script, Scripted, Use, say, use
from handraise.demo.request import Conversation
from handraise.demo.scenarios import propose
from handraise.desk.interface import Desk
from handraise.model.asks import Ask, Withdrawn
from handraise.model.items import Preview, Text
from handraise.model.projects import Options
from handraise.model.sessions import Session
from handraise.serving.serve import RunningHub
from stories.outsiders import Yard
from surfaces.terminal.pseudo import DEADLINE, ENTER, Pseudo

DIALOG = "Do you want"
GATE = "gate"
SOON = timedelta(seconds=1)
"""Within this time, what was answered where Claude runs is withdrawn here."""
_READY = "❯"
_TAKEN = 0.4
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    "multiSelect": False,
}


class HandRun(Pseudo):
    """The program, once it takes messages."""

    async def say(self, text: str) -> None:
        """Types a message, sees it, and sends it."""
        self.type(text)
        await self.wait(lambda: any(row.startswith("❯") and text in row for row in self.lines), f"❯ {text}")
        self.type(ENTER)

    async def press(self, key: str, *, gone: str) -> None:
        """Presses a key until what should go is gone: a dialog ignores keys in its first second."""
        async with asyncio.timeout(DEADLINE):
            while gone in self.screen:
                self.type(key)
                try:
                    async with asyncio.timeout(_TAKEN):
                        await self.wait(lambda: gone not in self.screen)
                except TimeoutError:
                    continue


@asynccontextmanager
async def by_hand(
    work: Path, environment: Mapping[str, str], *options: str, mode: str = "default"
) -> AsyncIterator[HandRun]:
    """Claude in a terminal, in a directory that its user trusts."""
    home = Path(environment["HOME"])
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
    (home / ".claude.json").write_text(
        json.dumps(
            {
                "hasCompletedOnboarding": True,
                "lastOnboardingVersion": "9.9.9",
                "theme": "dark",
                "customApiKeyResponses": {"approved": [environment["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
                "projects": {str(work): known},
            }
        )
    )
    words = (str(locate()), "--permission-mode", mode, *options)
    async with HandRun(*words, environment=environment, cwd=str(work), columns=110, rows=45) as terminal:
        await terminal.until(_READY, "shift+tab" if mode == "plan" else "? for shortcuts")
        yield terminal


def asking(heard: list[str]) -> Scripted:
    """A model that runs what each message names, and records what Claude sent it about each."""

    def script(conversation: Conversation) -> Script:
        while True:
            word = (conversation.text.splitlines() or [""])[-1].strip()
            name, _, path = word.partition(" ")
            match name:
                case "run":
                    piece = _touch(f"{conversation.directory}/{path}")
                case "hold":
                    piece = _touch(f"{conversation.directory}/{path} && cat {conversation.directory}/{GATE}")
                case "question":
                    piece = use("AskUserQuestion", questions=[QUESTION])
                case "plan":
                    conversation = yield from propose(conversation, "# The plan")
                    heard.append(f"{conversation.result().is_error}: {conversation.result().text}")
                    conversation = yield [say("Finished.")]
                    continue
                case _:
                    conversation = yield [say("Nothing to do.")]
                    continue
            conversation = yield [piece]
            heard.append(f"{conversation.result().is_error}: {conversation.result().text}")
            if (conversation.text.splitlines() or [word])[-1].strip() in ("", word):
                conversation = yield [say("Finished.")]

    return script


def _touch(words: str) -> Use:
    return use("Bash", command=f"touch {words}", description="Makes a file")


def shut(work: Path) -> None:
    """From here on, `hold` runs until `let_go`."""
    os.mkfifo(work / GATE)


async def let_go(work: Path) -> None:
    """Ends the command that is running."""
    await asyncio.to_thread((work / GATE).write_text, "")


def reason(ask: Ask) -> str:
    assert isinstance(ask.settlement, Withdrawn)
    return ask.settlement.reason


def withdrawn_after(ask: Ask, home: Path) -> timedelta:
    """How long after its dialog closed a card was withdrawn: by our own record, and by Claude's.

    Claude's state must be unchanged since then: a command runs, and `let_go` ends it.
    """
    [state] = [json.loads(path.read_text()) for path in (home / ".claude" / "sessions").glob("*.json")]
    assert state["status"] == "busy"
    assert isinstance(ask.settlement, Withdrawn)
    return ask.settlement.at - datetime.fromtimestamp(state["statusUpdatedAt"] / 1000, UTC)


async def until_heard(terminal: HandRun, heard: list[str], count: int) -> None:
    """Until the model has had so many results, and Claude is idle again."""
    await terminal.wait(lambda: len(heard) >= count and "esc to interrupt" not in terminal.screen, f"{count} results")


async def first_of_all(desk: Desk) -> str:
    """The first request ever, whatever became of it."""
    async with asyncio.timeout(DEADLINE), desk.follow(0) as follower:
        async for _ in follower:
            if asks := await desk.asks(state=None):
                return asks[0].id
    raise AssertionError("the feed ended")


async def until_delivered(desk: Desk, ask: str) -> Ask:
    async with asyncio.timeout(DEADLINE), desk.follow(0) as follower:
        async for _ in follower:
            found = await desk.ask(ask)
            if found.delivered_at is not None:
                return found
    raise AssertionError("the feed ended")


async def until_phase(desk: Desk, session: str, phase: str) -> Session:
    async with asyncio.timeout(DEADLINE), desk.follow(0, session) as follower:
        async for _ in follower:
            found = (await desk.session(session)).session
            if found.phase == phase:
                return found
    raise AssertionError("the feed ended")


async def until_dialog(desk: Desk, session: str, *, up: bool = True, about: str = "") -> Session:
    """The session once a dialog waits that only its terminal can answer, or none does.

    `about`: what it must name. Claude Code writes its transcript a little after the screen.
    """
    async with asyncio.timeout(DEADLINE), desk.follow(0, session) as follower:
        async for _ in follower:
            found = (await desk.session(session)).session
            if bool(found.dialog) is up and about in found.dialog:
                return found
    raise AssertionError("the feed ended")


async def until_text(desk: Desk, session: str, text: str) -> None:
    """Claude Code writes its transcript a little after the screen."""
    async with asyncio.timeout(DEADLINE), desk.follow(0, session) as follower:
        async for news in follower:
            contents = [] if isinstance(news, Preview) else [item.read() for item in news]
            if any(isinstance(each, Text) and each.text == text for each in contents):
                return
    raise AssertionError("the feed ended")


async def synced(yard: Yard, served: RunningHub, *, user: bool = False) -> None:
    """With the hook in the project's own settings, or in the user's."""
    await served.hub.desk.add_project(str(yard.work), "work", Options())
    path = "/api/sync" if user else "/api/projects/work/sync"
    await asyncio.to_thread(HubClient(yard.state).post, path, {"remove": False})
