"""A hub in its own process, with a person who answers everything by a fixed table. Made to be killed.

It prints `up` when the hub runs, `answered` after each answer, and `finished` when every session has ended. Given a
moment, it kills itself then: relevant steps are counted (a commit starts, a commit is done, a file is opened, a lock
is taken, a process is started), so that the narrow gaps between them are hit too.
"""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import apsw
import msgspec
from msgspec import Struct

from handraise.desk.interface import Refused
from handraise.hub.desk import LocalDesk
from handraise.hub.hub import HubConfig, hub
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Revise, Trusting
from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.model.items import AskOpened, Item, Preview, SessionEnded, TurnEnded
from handraise.model.trust import Trust

OVER = "That was all."
NEXT = "Go on with part "
STEERED = "By the way, this is about "
FORBIDDEN, CHANGED, STEERING, KEPT = "forbidden", "change-me", "hear-me:", "kept"
DENIAL = "Leave that alone."
STREET = "Odeon 4"
ADDRESS = {"street": STREET, "floor": 3, "lift": True, "door": "right"}
REVISION = "One more step, please."


class ProcessOrder(Struct, frozen=True):
    """What the hub works with, and the sessions that the person wants: each a title and a directory."""

    state: str
    program: str
    environment: dict[str, str]
    sessions: dict[str, str]
    limit: int


def answer_to(ask: Ask) -> Answer:
    """The table: the same ask always gets the same answer."""
    match ask.body:
        case Question(questions):
            first, *others = questions
            labels = (first.options[0].label,)
            return Choices((Choice(labels), *(Choice((each.options[1].label,), "and more") for each in others)))
        case Permission(input=text) if FORBIDDEN in text.get("command", ""):
            return Deny(DENIAL)
        case Permission(input=text) if CHANGED in text.get("command", ""):
            return Allow(input={**text, "command": text["command"].replace(CHANGED, "changed")})
        case Permission(input=text) if KEPT in text.get("command", ""):
            return Allow("session")
        case Permission():
            return Allow()
        case Plan(plan):
            return Approve() if REVISION in plan else Revise(REVISION)
        case Form():
            return Filled("accept", ADDRESS)
        case Trust():
            return Trusting("without")


class Attendant:
    """The person. Whatever was done before a kill is repeated, with the same ids: it must count once."""

    def __init__(self, desk: LocalDesk, wanted: Iterable[str]) -> None:
        self._desk = desk
        self._unfinished = set(wanted)

    async def begin(self, sessions: dict[str, str]) -> None:
        known = {seen.session.title for seen in await self._desk.sessions()}
        for title, directory in sessions.items():
            if title not in known:
                await self._desk.start(f"{NEXT}1.", directory, title=title)

    async def attend(self) -> None:
        async with self._desk.follow(0) as follower:
            async for news in follower:
                for item in () if isinstance(news, Preview) else news:
                    await self._see(item)
                if not self._unfinished:
                    return

    async def _see(self, item: Item) -> None:
        assert item.session is not None
        match item.read():
            case AskOpened(ask):
                await self._answer(await self._desk.ask(ask["id"]))
            case TurnEnded(result=result) if result.startswith(NEXT):
                await self._say(item.session, result)
            case TurnEnded(result=result) if result == OVER:
                await self._stop(item.session)
            case SessionEnded():
                self._unfinished.discard((await self._desk.session(item.session)).session.title)

    async def _answer(self, ask: Ask) -> None:
        if ask.state != "open":
            return
        assert ask.session is not None
        if isinstance(ask.body, Permission) and STEERING in (command := ask.body.input.get("command", "")):
            await self._say(ask.session, STEERED + command.partition(STEERING)[2])
        await self._desk.answer(ask.id, answer_to(ask), ask.digest)
        os.write(1, b"answered\n")

    async def _say(self, session: str, text: str) -> None:
        try:
            await self._desk.say(session, text, str(uuid5(NAMESPACE_URL, session + text)))
        except Refused:
            pass  # sent before, and the session has ended since

    async def _stop(self, session: str) -> None:
        try:
            await self._desk.stop(session)
        except Refused:
            pass  # stopped before


def die_at(moment: int) -> None:
    """Kills this process at the n-th step."""
    moments = itertools.count(1)

    def pass_moment() -> None:
        if next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(event: str, _: object) -> None:
        if event == "open" or event.startswith(("os.", "fcntl.")):
            pass_moment()

    def commit_begins() -> bool:
        pass_moment()
        return False

    def commit_is_done(*_: object) -> int:
        pass_moment()
        return apsw.SQLITE_OK

    def connected(connection: apsw.Connection) -> None:
        connection.set_commit_hook(commit_begins)
        connection.set_wal_hook(commit_is_done)

    apsw.connection_hooks.append(connected)
    sys.addaudithook(heard)


async def main(order: ProcessOrder) -> None:
    async with hub(HubConfig(Path(order.state), Path(order.program), order.environment, limit=order.limit)) as opened:
        os.write(1, b"up\n")
        attendant = Attendant(opened.desk, order.sessions)
        await attendant.begin(order.sessions)
        await attendant.attend()
        os.write(1, b"finished\n")
        await asyncio.Event().wait()


if __name__ == "__main__":
    wanted = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=ProcessOrder)
    if int(sys.argv[2]):
        die_at(int(sys.argv[2]))
    asyncio.run(main(wanted))
