"""A torture test: the hub is killed at random moments, again and again, and the result is the same."""

import asyncio
import random
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.request import Conversation, Request
from handraise.demo.scenarios import propose
from handraise.hub.hub import Hub, HubConfig, hub
from handraise.model.actors import Person
from handraise.model.asks import Answered, Ask
from handraise.model.items import Content, Frame, Notice, SessionChanged, SessionEnded, SessionStarted, TurnEnded
from stories import hub_process
from stories.hub_process import (
    CHANGED,
    DENIAL,
    FORBIDDEN,
    KEPT,
    NEXT,
    OVER,
    REVISION,
    STEERED,
    STEERING,
    STREET,
    answer_to,
)

SILENCE = 90.0
"""After this many seconds without an answer, the story is stuck."""
LONGEST_LIFE = 0.6
MOMENTS = 120
FORMS = {
    "type": "stdio",
    "command": sys.executable,
    "args": ["-IS", str(Path(__file__).with_name("plain_form_server.py"))],
}
KINDS = ["question", *["permission"] * 6, "plan", "plan", "permission", "form"]
RUN = ("allowed", "changed", "steered")
"""What each part has a shell do; all that was asked for but what is forbidden."""
WHERE, WHAT = "Where should it go?", "What should it hold?"
OPTIONS = [{"label": "left", "description": "here"}, {"label": "right", "description": "there"}]
QUESTIONS = [
    {"question": WHERE, "header": "Where", "options": OPTIONS, "multiSelect": False},
    {"question": WHAT, "header": "What", "options": OPTIONS, "multiSelect": True},
]


def telling(parts: int) -> Scripted:
    """A session with this many parts, one turn each, with asks of every kind. It checks each answer."""

    def script(conversation: Conversation) -> Script:
        for part in range(1, parts + 1):
            assert conversation.text == f"{NEXT}{part}."
            conversation = yield [say(f"Part {part}."), use("AskUserQuestion", questions=QUESTIONS)]
            assert f'"{WHERE}"="left"' in conversation.result().text
            assert f'"{WHAT}"="right, and more"' in conversation.result().text
            conversation = yield [use("Bash", command=f"echo {part}-allowed >> log.txt")]
            assert not conversation.result().is_error
            conversation = yield [use("Bash", command=f"echo {part}-{FORBIDDEN} >> log.txt")]
            assert conversation.result().is_error
            assert DENIAL in conversation.result().text
            conversation = yield [use("Bash", command=f"echo {part}-{CHANGED} >> log.txt")]
            assert not conversation.result().is_error
            conversation = yield [use("Bash", command=f"echo {part}-steered >> log.txt  # {STEERING}{part}.")]
            assert not conversation.result().is_error
            for _ in range(2):
                conversation = yield [use("Bash", command=f"mkdir -p {KEPT}-{part}")]
                assert not conversation.result().is_error
            conversation = yield [say("Now a plan."), use("EnterPlanMode")]
            conversation = yield from propose(conversation, f"# Part {part}\n\n1. A step.")
            assert conversation.result().is_error
            assert REVISION in conversation.result().text
            conversation = yield from propose(conversation, f"# Part {part}\n\n1. A step.\n2. {REVISION}")
            assert not conversation.result().is_error
            conversation = yield [use("mcp__forms__deliver", parcel=f"parcel {part}")]
            assert STREET in conversation.result().text
            conversation = yield [say(f"{NEXT}{part + 1}." if part < parts else OVER)]

    return script


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of the story left behind, by the title of each session."""

    timelines: dict[str, list[str]]
    asks: dict[str, list[Ask]]
    logs: dict[str, str]
    heard: dict[str, str]
    """Whatever the model was told in the end: the last request of each session, without what Claude said itself."""
    mistakes: str
    kills: int


class Theatre:
    """A folder with a state, a home for Claude, a directory for each session, and the model, which is never killed."""

    def __init__(self, tmp: Path, sessions: int, parts: int, limit: int) -> None:
        self._tmp = tmp
        self._titles = [f"session-{number}" for number in range(1, sessions + 1)]
        self._model = ScriptedModel(dict.fromkeys(self._titles, telling(parts)), stretch=0)
        self._order = hub_process.ProcessOrder(
            state=str(tmp / "state"),
            program=str(tmp / "claude"),
            environment=environment("", str(tmp / "home")),
            sessions={title: str(tmp / title) for title in self._titles},
            limit=limit,
        )

    async def play(self, dice: random.Random, kills: int) -> Outcome:
        """The whole story, with this many kills, if it lasts that long."""
        self._furnish()
        async with self._model:
            for title in self._titles:
                (self._tmp / title / ".model").write_text(self._model.url(title))
            try:
                return await self._outcome(await self._live_and_die(dice, kills))
            finally:
                async with self._open_hub() as last:
                    await last.pool.stop_all()

    def _furnish(self) -> None:
        for name in ("home", *self._titles):
            (self._tmp / name).mkdir(parents=True)
        servers = {"mcpServers": {"forms": {**FORMS, "alwaysLoad": True}}}
        (self._tmp / "home" / ".claude.json").write_bytes(msgspec.json.encode(servers))
        # All sessions of a hub have one environment; which script each one plays is told by where it runs.
        claude = self._tmp / "claude"
        claude.write_text(f'#!/bin/sh\nexport ANTHROPIC_BASE_URL="$(/bin/cat .model)"\nexec {locate()} "$@"\n')
        claude.chmod(0o700)
        (self._tmp / "order.json").write_bytes(msgspec.json.encode(self._order))

    async def _live_and_die(self, dice: random.Random, wanted: int) -> int:
        for kills in range(wanted):
            if await self._one_life(dice):
                return kills
        async with self._hub() as text:
            assert await _hear(text, b"finished\n"), (self._tmp / "hubs.log").read_text()
        return wanted

    async def _one_life(self, dice: random.Random) -> bool:
        """Whether the story came to its end before the kill."""
        # Seeded delays before a kill are the point of the story: a kill may come at any time.
        waits, moment = dice.uniform(0, LONGEST_LIFE), 0
        first = dice.choice((b"", b"up\n", b"answered\n", b"moment", b"moment"))
        if first == b"moment":
            waits, moment, first = LONGEST_LIFE, dice.randint(1, MOMENTS), b"up\n"
        async with self._hub(moment) as text:
            if first and not await _hear(text, first):
                return False
            try:
                async with asyncio.timeout(waits):
                    return await _hear(text, b"finished\n")
            except TimeoutError:
                return False

    @asynccontextmanager
    async def _hub(self, moment: int = 0) -> AsyncIterator[asyncio.StreamReader]:
        """A hub's life, which ends by SIGKILL, and what it says."""
        text = asyncio.StreamReader()
        with (
            open(self._tmp / "hubs.log", "ab") as log,
            subprocess.Popen(
                [sys.executable, hub_process.__file__, self._tmp / "order.json", str(moment)],
                stdout=subprocess.PIPE,
                stderr=log,
            ) as process,
        ):
            hearing, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(text), process.stdout
            )
            try:
                yield text
            finally:
                process.kill()
                hearing.close()

    def _open_hub(self) -> AbstractAsyncContextManager[Hub]:
        order = self._order
        return hub(HubConfig(Path(order.state), Path(order.program), order.environment, limit=order.limit))

    async def _outcome(self, kills: int) -> Outcome:
        async with self._open_hub() as opened:
            desk = opened.desk
            ids = {seen.session.title: seen.session.id for seen in await desk.sessions()}
            assert sorted(ids) == self._titles
            items = {title: await desk.items(session, limit=100_000) for title, session in ids.items()}
            return Outcome(
                timelines={title: _timeline([item.read() for item in items[title]], self._tmp) for title in ids},
                asks={title: await desk.asks(state=None, session=session) for title, session in ids.items()},
                logs={title: (self._tmp / title / "log.txt").read_text() for title in ids},
                heard={title: _heard(self._model.requests(title)) for title in ids},
                mistakes="".join(self._model.errors) + (self._tmp / "hubs.log").read_text(),
                kills=kills,
            )


async def _hear(text: asyncio.StreamReader, wanted: bytes) -> bool:
    """Whether this, or that the story is over, was said before the hub died."""
    while True:
        async with asyncio.timeout(SILENCE):
            line = await text.readline()
        if line in (wanted, b"finished\n"):
            return True
        if not line:
            return False


def _heard(requests: Sequence[Request]) -> str:
    last = [request for request in requests if not request.is_side][-1]
    return str([message for message in last.messages if message["role"] != "assistant"])


def _timeline(contents: Sequence[Content], tmp: Path) -> list[str]:
    """A timeline in words that are the same in every run, without what a restart may add."""
    names: dict[str, str] = {}
    lines = []
    for content in filter(None, map(_comparable, contents)):
        line = _TIME.sub("TIME", msgspec.json.encode(content).decode().replace(str(tmp), "TMP"))
        lines.append(_NAME.sub(lambda found: names.setdefault(found[0], f"<{len(names)}>"), line))
    return lines


_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
# Ids, digests and Claude's names for plan files are numbered by their first appearance.
_NAME = re.compile(r"\b[asrm]_[0-9a-z]{16}\b|sha256:\w+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=plans/)[\w-]+")


def _comparable(content: Content) -> Content | None:
    match content:
        case Notice() | SessionChanged():
            return None
        case Frame(frame={"subtype": "background_tasks_changed"}):
            return None  # said to a second greeting: the hub was killed before it saw the reply to the first
        case SessionStarted(run=run) if run > 1:
            return None  # the hub was killed before Claude was started
        case TurnEnded():
            return replace(content, cost_usd=0, duration_ms=0, usage={}, context=0)
        case SessionEnded():
            return replace(content, exit_code=None)  # not every kernel tells it to who is not the parent
        case _:
            return content


async def play_both(tmp: Path, seed: int, *, sessions: int, parts: int, limit: int, kills: int) -> Outcome:
    """The story without and with kills, side by side; the outcomes must be indistinguishable."""
    async with asyncio.TaskGroup() as tasks:
        calm, torn = (
            tasks.create_task(Theatre(tmp / name, sessions, parts, limit).play(random.Random(seed), most))
            for name, most in (("calm", 0), ("torn", kills))
        )
    for outcome in (calm.result(), torn.result()):
        assert outcome.mistakes == ""
        for title, asks in outcome.asks.items():
            assert [ask.kind for ask in asks] == KINDS * parts
            assert all(ask.delivered_at for ask in asks)
            answered = [(ask, ask.settlement) for ask in asks if isinstance(ask.settlement, Answered)]
            by_person = [(ask, settled) for ask, settled in answered if isinstance(settled.by, Person)]
            assert [settled.answer for _, settled in by_person] == [answer_to(ask) for ask, _ in by_person]
            # Allowed for the session, the second time it is the rule that answers: it was kept with the answer.
            assert (len(answered), len(by_person)) == (len(asks), len(asks) - parts)
            assert outcome.logs[title].split() == [f"{part}-{word}" for part in range(1, parts + 1) for word in RUN]
            for part in range(1, parts + 1):
                assert outcome.heard[title].count(f"{NEXT}{part}.") == 1
                assert outcome.heard[title].count(f"{STEERED}{part}.") == 1
    for title, timeline in calm.result().timelines.items():
        assert torn.result().timelines[title] == timeline
    return torn.result()


async def test_a_hub_that_is_killed_again_and_again_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    await play_both(tmp_path, 1, sessions=1, parts=1, limit=2, kills=6)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(1, 5))
async def test_a_hub_that_is_killed_hundreds_of_times_loses_nothing(tmp_path: Path, seed: int) -> None:
    # One more session than may run: the last one waits in the queue until another has ended.
    outcome = await play_both(tmp_path, seed, sessions=4, parts=5, limit=3, kills=1000)
    print(f"seed {seed}: {outcome.kills} kills")  # noqa: T201 (whoever repeats it needs the seed)
    assert outcome.kills > 50
