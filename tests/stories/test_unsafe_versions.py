"""Stories of a Claude Code that names itself older than it is: it is unsafe, and plan mode is refused."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from handraise.claude.locate import locate
from handraise.demo.pieces import Script, say
from handraise.demo.request import Conversation
from handraise.desk.interface import Refused
from handraise.hub.hub import HubConfig, hub
from handraise.model.items import Notice, SessionEnded, SessionStarted
from handraise.session.machine import SessionLimits
from handraise.store.changes import SaveSession
from stories.house import House, seen
from stories.serving_house import DEADLINE, serve, settle_in, surroundings
from stories.timeline import only, times, until_turn

UNSAFE = "Claude Code 2.1.197 is unsafe: commands can run without permission. Update to 2.1.223 or later."


def greet(conversation: Conversation) -> Script:
    while True:
        yield [say("Hello.")]


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path, greet) as home:
        yield home


def older(folder: Path) -> Path:
    """A Claude Code that says it is older."""
    program = folder / "claude"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "2.1.197 (Claude Code)" && exit\nexec "{locate()}" "$@"\n'
    )
    program.chmod(0o755)
    return program


def configured(home: House, *, allowed: bool = False) -> HubConfig:
    program = older(home.tmp)
    limits = SessionLimits(unsafe_plan=allowed)
    return HubConfig(home.tmp / "state", program, home.environment, limits=limits)


async def test_a_session_says_that_claude_is_unsafe_and_plan_mode_is_refused(home: House) -> None:
    async with hub(configured(home)) as opened:
        with pytest.raises(Refused, match=r"Plan mode is refused with Claude Code 2\.1\.197"):
            await opened.desk.start("Think.", str(home.work), mode="plan")
        assert await opened.desk.sessions() == []

        session = (await opened.desk.start("Hello.", str(home.work))).session
        contents = await until_turn(opened.desk, session)
        assert UNSAFE in [each.text for each in only(Notice, contents)]
        assert opened.pool.starter.unsafe_version == "2.1.197"

        # One that was in plan mode before does not come back in it.
        await opened.desk.stop(session.id)
        await seen(opened.desk, times(1, SessionEnded), session.id)
        ended = (await opened.desk.session(session.id)).session
        await opened.store.apply([SaveSession(replace(ended, mode="plan"))])
        with pytest.raises(Refused, match="Plan mode is refused"):
            await opened.desk.resume(session.id, "Go on.")
        with pytest.raises(Refused, match="Plan mode is refused"):
            await opened.desk.fork(session.id, "Go on.")
        queued = replace(ended, id="s_queued", claude_id=ended.claude_id, mode="plan", phase="queued", ended=None)
        await opened.store.apply([SaveSession(queued)])
        await opened.pool.start_queued()
        contents = await seen(opened.desk, times(1, SessionEnded), queued.id)
        assert [(each.how, "Plan mode is refused" in each.reason) for each in only(SessionEnded, contents)] == [
            ("failed", True)
        ]


async def test_the_settings_can_allow_it(home: House) -> None:
    async with hub(configured(home, allowed=True)) as opened:
        session = (await opened.desk.start("Think.", str(home.work), mode="plan")).session
        contents = await until_turn(opened.desk, session)

        assert [each.mode for each in only(SessionStarted, contents)] == ["plan"]
        assert UNSAFE in [each.text for each in only(Notice, contents)]


async def test_the_hub_says_so_when_it_starts(tmp_path: Path) -> None:
    settle_in(tmp_path, f'path = "{older(tmp_path)}"')
    async with serve(tmp_path, surroundings(tmp_path)) as hub:
        async with asyncio.timeout(DEADLINE):
            assert (await hub.child.stdout.readline()).decode() == f"Warning: {UNSAFE}\n"
        await hub.stop()
        assert await hub.child.stdout.read() == b""
