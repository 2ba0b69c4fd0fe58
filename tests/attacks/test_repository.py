"""Attacks by a cloned repository, with the real CLI: nothing of it runs or applies until a person trusts it."""

import asyncio
import json
from pathlib import Path

import pytest

from attacks.repositories import USED, git, lay, marked
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import Hub
from handraise.model.answers import Allow, Deny, Trusting
from handraise.model.asks import Ask, Permission
from handraise.model.projects import Options, Patience
from handraise.model.sessions import Session
from handraise.model.trust import Trust, TrustLevel
from stories.house import House, house, next_ask
from stories.terminal_desk import desk, opened

RUN = "uname; bash -c true; touch ran"


class Curious:
    """A model that runs a command, tries the agent, the skill and the server, and records what Claude sent."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def __call__(self, conversation: Conversation) -> Script:
        self.requests.append(json.dumps(conversation.request.body))
        while True:
            conversation = yield [use("Bash", command=RUN, description="Look around")]
            conversation = yield [use("Skill", skill="evil")]
            conversation = yield [say("Done.")]


async def begin(home: House, opened: Hub) -> Session:
    return (await opened.desk.start("Go on.", str(home.work))).session


async def decide(opened: Hub, session: Session, level: TrustLevel) -> Ask:
    ask = await next_ask(opened.desk, session)
    assert isinstance(ask.body, Trust)
    assert ask.settlement is None
    await opened.desk.answer(ask.id, Trusting(level), ask.digest)
    return ask


async def allow_all(opened: Hub, session: Session, known: set[str]) -> list[str]:
    """All requests until the turn was over, all allowed."""
    asked: list[str] = []
    async with opened.desk.follow(0, session.id) as follower:
        async for _ in follower:
            for ask in await opened.desk.asks(session=session.id):
                if ask.id not in known:
                    known.add(ask.id)
                    asked.append(ask.body.tool if isinstance(ask.body, Permission) else ask.kind)
                    await opened.desk.answer(ask.id, Allow() if isinstance(ask.body, Permission) else Deny())
            found = await opened.store.session(session.id)
            if found is not None and found.phase == "idle" and found.cost_usd:
                return asked
    raise AssertionError("the feed ended")


async def test_nothing_of_an_untrusted_repository_runs_or_holds_and_the_next_hub_goes_on_asking(tmp_path: Path) -> None:
    marks, script = tmp_path / "marks", Curious()
    async with House(tmp_path, script) as home:
        lay(home.work, marks)
        async with home.open_hub() as first:
            session = await begin(home, first)
            waiting = await next_ask(first.desk, session)
        async with home.open_hub() as opened:
            assert [each.id for each in await opened.desk.asks()] == [waiting.id]
            assert (marked(marks), script.requests) == (set(), [])
            await decide(opened, session, "never")

            # Its permissions allow Bash and its hook allows everything: a person is asked anyway.
            assert await allow_all(opened, session, {waiting.id}) == ["Bash"]
            assert marked(marks) == set()
            assert (home.work / "ran").exists()
            # Instructions are text, and stay; a skill can be read.
            for text in ("MARK-CLAUDE", "MARK-MORE", "MARK-SKILL"):
                assert text in script.requests[0]
            assert "MARK-STYLE" not in script.requests[0]

            # The decision is stored: the next session starts immediately.
            again = await begin(home, opened)
            assert await allow_all(opened, again, set()) == ["Bash"]
            assert marked(marks) == set()


async def test_everything_is_shown_and_works_once_trusted_until_it_changes_or_trust_is_revoked(tmp_path: Path) -> None:
    marks, script = tmp_path / "marks", Curious()
    async with house(tmp_path, script) as (home, opened):
        lay(home.work, marks, home.model.url("script"))
        session = await begin(home, opened)
        ask = await decide(opened, session, "exactly")
        assert isinstance(ask.body, Trust)
        kinds = {each.kind for each in ask.body.brought}
        assert kinds == {"hook", "helper", "environment", "permission", "setting", "plugin", "server", "agent",
                         "command", "skill", "script"}  # fmt: skip
        shown = {each.name: each.text for each in ask.body.brought}
        assert shown["apiKeyHelper"] == f"touch {marks}/helper; echo key"
        assert shown["env.sh"] == f"touch {marks}/BASH_ENV\n"

        assert await allow_all(opened, session, {ask.id}) == []
        assert marked(marks) >= USED
        assert "MARK-STYLE" in script.requests[0]
        (trust,) = await opened.desk.trusts()
        assert (trust.directory, trust.level, trust.digest) == (str(home.work), "exactly", ask.digest)

        # A script that a setting names, not a setting itself.
        (home.work / "env.sh").write_text("touch somewhere-else\n")
        second = await begin(home, opened)
        changed = await next_ask(opened.desk, second)
        assert isinstance(changed.body, Trust)
        assert changed.digest != ask.digest
        assert "changed since owner trusted them" in changed.why
        await opened.desk.answer(changed.id, Trusting("without"), changed.digest)
        assert await allow_all(opened, second, {changed.id}) == ["Bash"]

        await opened.desk.revoke_trust(str(home.work))
        third = await begin(home, opened)
        assert isinstance((await next_ask(opened.desk, third)).body, Trust)
        assert [each.what for each in await opened.desk.audit(what="trust revoked")] == ["trust revoked"]


async def test_what_is_written_during_a_session_does_not_hold_in_it(tmp_path: Path) -> None:
    """Claude Code applies changed settings immediately: an allowed command could make every later ask disappear."""
    marks, evil = tmp_path / "marks", tmp_path / "evil"

    def writes(conversation: Conversation) -> Script:
        yield [use("Bash", command=f"cp -r {evil}/.claude {evil}/.mcp.json .; sleep 2", description="Prepare")]
        yield [use("Bash", command="touch one", description="Go on")]
        yield [say("Done.")]

    for level in ("untrusted", "trusted"):
        folder = tmp_path / level
        folder.mkdir()
        async with house(folder, writes) as (home, opened):
            if not evil.exists():
                evil.mkdir()
                lay(evil, marks)
            if level == "trusted":
                (home.work / ".claude").mkdir()
                (home.work / ".claude/settings.json").write_text('{"env": {"HARMLESS": "1"}, "disableAllHooks": true}')
            session = await begin(home, opened)
            known = {(await decide(opened, session, "exactly")).id} if level == "trusted" else set()
            assert await allow_all(opened, session, known) == ["Bash", "Bash"]
            assert marked(marks) == set()

            # The next start asks.
            again = await begin(home, opened)
            assert isinstance((await next_ask(opened.desk, again)).body, Trust)


@pytest.mark.parametrize("elsewhere", ["above", "worktree", "link", "added"])
async def test_it_makes_no_difference_where_the_files_are(tmp_path: Path, elsewhere: str) -> None:
    evil, marks = tmp_path / "evil", tmp_path / "marks"
    evil.mkdir()
    lay(evil, marks)
    options = Options(add_dirs=(str(evil),)) if elsewhere == "added" else Options()
    async with house(tmp_path, Curious(), options=options) as (home, opened):
        work = home.work
        match elsewhere:
            case "above":
                work = evil / "sub"
                work.mkdir()
            case "worktree":
                work = tmp_path / "tree"
                moved = [["rm", "-rq", "--cached", ".claude", ".mcp.json"], ["commit", "-qm", "y"]]
                git(evil, *moved, ["worktree", "add", "-q", str(work)])
            case "link":
                (work / ".claude").symlink_to(evil / ".claude")
                (work / ".mcp.json").symlink_to(evil / ".mcp.json")
        session = (await opened.desk.start("Go on.", str(work))).session
        ask = await decide(opened, session, "without")
        assert await allow_all(opened, session, {ask.id}) == ["Bash"]
        assert marked(marks) == set()


async def test_nobody_answers_and_the_session_starts_without_it(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    options = Options(patience=Patience(trust=0.5))
    async with house(tmp_path, Curious(), options=options) as (home, opened):
        lay(home.work, marks)
        session = await begin(home, opened)
        ask = await next_ask(opened.desk, session)
        assert await allow_all(opened, session, {ask.id}) == ["Bash"]
        assert (await opened.desk.ask(ask.id)).state == "expired"
        assert marked(marks) == set()

        # A late answer is for the next start, and isn't sent to Claude.
        assert (await opened.desk.answer(ask.id, Trusting("never"), ask.digest)).late
        assert [each.level for each in await opened.desk.trusts()] == ["never"]
        assert await opened.store.says(session.id) == []


async def test_stopping_and_other_sessions_take_the_ask_back(tmp_path: Path) -> None:
    async with house(tmp_path, Curious()) as (home, opened):
        lay(home.work, tmp_path / "marks")
        one, other, third = [await begin(home, opened) for _ in range(3)]
        asks = [await next_ask(opened.desk, session) for session in (one, other, third)]
        await opened.desk.stop(one.id)
        assert (await opened.desk.ask(asks[0].id)).state == "withdrawn"
        await opened.desk.answer(asks[1].id, Trusting("without"), asks[1].digest)
        # They share one script, so either may play more of it.
        for session in (other, third):
            assert set(await allow_all(opened, session, {each.id for each in asks})) <= {"Bash"}
        assert (await opened.desk.ask(asks[2].id)).state == "withdrawn"
        # Once resumed, it uses what was decided meanwhile.
        await opened.desk.resume(one.id)
        assert set(await allow_all(opened, one, {each.id for each in asks})) <= {"Bash"}


async def test_a_script_hears_of_it_and_goes_on_when_somebody_has_decided(tmp_path: Path) -> None:
    def shortly(conversation: Conversation) -> Script:
        yield [say("Done.")]

    marks = tmp_path / "marks"
    async with desk(tmp_path, shortly) as (laid, up):
        lay(laid.home.work, marks)
        running = asyncio.create_task(laid.script("run", "--json", "Go on."))
        asked = await opened(up, Trust)
        assert not running.done()
        assert marked(marks) == set()
        await up.hub.desk.answer(asked.id, Trusting("without"), asked.digest)
        code, out, _ = await running
        assert code == 0
        items = [json.loads(row) for row in out.splitlines()]
        assert [item["ask"]["kind"] for item in items if item["type"] == "ask.opened"] == ["trust"]
        assert [item["settlement"]["answer"] for item in items if item["type"] == "ask.settled"] == [
            {"trust": "without"}
        ]
        assert [item["text"] for item in items if item["type"] == "text"] == ["Done."]
        assert marked(marks) == set()
