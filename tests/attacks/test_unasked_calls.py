"""Rules also apply to what Claude Code does without asking: in every mode, and in sub-agents.

One Claude plays all of it; each story has a hub with its own rules.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handraise.demo.pieces import Script, Use, agent, hold, say, use
from handraise.demo.request import Conversation, ToolOutcome
from handraise.hub.hub import Hub
from handraise.model.actors import ByRule
from handraise.model.answers import Allow, Choice, Choices, Deny
from handraise.model.asks import Answered, Ask
from handraise.model.items import ActionEnded, TurnEnded
from handraise.model.rules import Rule
from handraise.model.sessions import Session
from stories.bed import parts
from stories.house import DEADLINE, House, next_ask, seen
from stories.timeline import until_phase, until_turn

EVERYTHING = Rule("r_all", "deny", tool="*", message="Not here.")
QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}],
    "multiSelect": False,
}


def unasked(directory: str) -> list[Use]:
    """What 2.1.325 runs in the default mode without asking."""
    return [
        use("Read", file_path=f"{directory}/.env"),
        *(
            use("Bash", command=each)
            for each in ("cat .env", "grep SECRET .env", "git status", "ls -a", "find . -name .env")
        ),
        use("Agent", description="Look", prompt="Look around", subagent_type="general-purpose"),
        use("CronCreate", cron="0 0 1 1 *", prompt="Read .env", recurring=False),
        use("CronList"),
        use("ScheduleWakeup", delaySeconds=3600, reason="later", prompt="Read .env"),
        use("Monitor", command="cat .env", description="Watch", timeout_ms=1000, persistent=False),
        use("ToolSearch", query="select:Monitor"),
        use("EnterPlanMode"),
    ]


class Played:
    """Makes all calls in parallel, and records each result."""

    def __init__(self, calls: Sequence[Use] | None = None) -> None:
        self.results: list[ToolOutcome] = []
        self._calls = calls

    def __call__(self, conversation: Conversation) -> Script:
        while True:  # once for each later turn
            conversation = yield unasked(conversation.directory) if self._calls is None else self._calls
            self.results += conversation.results
            conversation = yield [say("Done.")]


class Scouting:
    """Has a sub-agent make two calls, and records their results."""

    def __init__(self) -> None:
        self.results: list[ToolOutcome] = []

    def __call__(self, conversation: Conversation) -> Script:
        yield [agent("Look", "Look around", self._scout)]
        yield [say("Done.")]

    def _scout(self, conversation: Conversation) -> Script:
        conversation = yield [use("Read", file_path=f"{conversation.directory}/.env")]
        self.results.append(conversation.result())
        conversation = yield [use("Bash", command="cat .env")]
        self.results.append(conversation.result())
        yield [say("Nothing to be seen.")]


class Alone:
    """Makes a call when no hub runs, and records its result."""

    def __init__(self) -> None:
        self.results: list[ToolOutcome] = []

    def __call__(self, conversation: Conversation) -> Script:
        conversation = yield [hold("a hub is gone"), use("Read", file_path=f"{conversation.directory}/.env")]
        self.results.append(conversation.result())
        yield [say("Done.")]


def hello(_: Conversation) -> Script:
    yield [say("Hello.")]


def asked_about(conversation: Conversation) -> Script:
    while True:  # once for each later turn
        conversation = yield [use("Read", file_path=f"{conversation.directory}/.env")]
        conversation = yield [use("Bash", command="ls && cat .env")]
        conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
        conversation = yield [say("Done.")]


UNREADABLE = ('eval "$(echo Y2F0IC5lbnY= | base64 -d)"', "$X .env")


class RuledVisit:
    """One session, and what it plays. Each story opens a hub for it."""

    def __init__(self, tmp: Path) -> None:
        self.every = Played()
        self.untouched = Played([use("Bash", command="cat .env"), use("CronList")])
        self.unreadable = Played([use("Bash", command=each) for each in UNREADABLE])
        self.scouting, self.alone = Scouting(), Alone()
        script = parts(
            hello=hello,
            every=self.every,
            asked=asked_about,
            scouting=self.scouting,
            untouched=self.untouched,
            alone=self.alone,
            unreadable=self.unreadable,
        )
        self.home = House(tmp, script)
        self._session: Session | None = None
        self._after = 0
        self._known: set[str] = set()

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    @asynccontextmanager
    async def hub(self, *rules: Rule) -> AsyncIterator[Hub]:
        """With these rules. What comes before is forgotten."""
        async with self.home.open_hub(rules=rules) as hub:
            self._after = await hub.desk.newest()
            self._known = {each.id for each in await hub.desk.asks(state=None, limit=1000)}
            yield hub

    async def say(self, hub: Hub, words: str, mode: str) -> None:
        """Sends it in this mode, when Claude is idle."""
        if self._session is None:
            await self._start(hub)
        await until_phase(hub.desk, self.session, "idle")
        if (await hub.desk.session(self.session.id)).session.mode != mode:
            await hub.desk.change_mode(self.session.id, mode)
        await hub.desk.say(self.session.id, words)

    async def _start(self, hub: Hub) -> None:
        """In bypassPermissions: only a Claude that was started in it can be switched to it."""
        started = (await hub.desk.start("hello", str(self.home.work), mode="bypassPermissions")).session
        await until_turn(hub.desk, started)
        await until_phase(hub.desk, started, "idle")
        self._session = (await hub.desk.session(started.id)).session
        self._after = await hub.desk.newest()

    async def ended(self, hub: Hub, turns: int = 1) -> list[Any]:
        """All contents until this many turns are over."""
        left = iter(range(turns - 1, -1, -1))
        return await seen(
            hub.desk,
            lambda content: isinstance(content, TurnEnded) and next(left) == 0,
            self.session.id,
            self._after,
        )

    async def asks(self, hub: Hub) -> list[Ask]:
        """All that were opened here, whatever became of them."""
        return [each for each in await hub.desk.asks(state=None, limit=1000) if each.id not in self._known]


@pytest.fixture(scope="module")
async def visit(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RuledVisit]:
    visit = RuledVisit(tmp_path_factory.mktemp("house"))
    async with visit.home:
        (visit.home.work / ".env").write_text("SECRET=1\n")
        yield visit


async def test_a_rule_denies_every_call_in_every_mode(visit: RuledVisit) -> None:
    modes = ("bypassPermissions", "acceptEdits", "dontAsk", "default")
    async with visit.hub(EVERYTHING) as hub:
        for turn, mode in enumerate(modes, 1):
            await visit.say(hub, "every" if turn == 1 else "Look.", mode)
            outcome = await visit.ended(hub, turn)
            assert [content for content in outcome if isinstance(content, ActionEnded) and content.ok] == []

        calls = len(unasked("")) * len(modes)
        results = visit.every.results
        assert len(results) == calls
        assert all(result.is_error and "Not here." in result.text for result in results)
        # Each is stored, with the rule that denied it, and nobody was asked.
        asks = await visit.asks(hub)
        assert len(asks) == calls
        assert {denied_by(ask) for ask in asks} == {"r_all"}
        ids = {ask.id for ask in asks}
        entries = [each for each in await hub.desk.audit(what="answered", limit=1000) if each.ask in ids]
        assert [entry.rule for entry in entries] == ["r_all"] * calls
        assert visit.home.model.errors == []


async def test_a_rule_that_asks_makes_one_ask_in_every_mode(visit: RuledVisit) -> None:
    # In dontAsk, Claude denies questions by itself, and asks us about calls that a rule wants to ask about.
    rules = [Rule("r_env", "ask", path="**/.env"), Rule("r_cat", "ask", command="cat *")]
    async with visit.hub(*rules) as hub:
        for turn, mode in enumerate(("bypassPermissions", "acceptEdits", "default"), 1):
            await visit.say(hub, "asked" if turn == 1 else "Look.", mode)
            session = visit.session
            read = await next_ask(hub.desk, session)
            assert (read.tool, "r_env" in read.why) == ("Read", True)
            await hub.desk.answer(read.id, Allow())
            cat = await next_ask(hub.desk, session, {read.id})
            assert (cat.tool, "r_cat" in cat.why) == ("Bash", True)
            await hub.desk.answer(cat.id, Deny("No."))
            question = await next_ask(hub.desk, session, {read.id, cat.id})
            await hub.desk.answer(question.id, Choices((Choice(("A",)),)))
            conversation = await visit.ended(hub, turn)

            assert [content.ok for content in conversation if isinstance(content, ActionEnded)] == [
                True,
                False,
                True,
            ] * turn
            kinds = [ask.kind for ask in await visit.asks(hub)]
            assert kinds == ["permission", "permission", "question"] * turn
        assert visit.home.model.errors == []


async def test_sub_agents_are_ruled_too(visit: RuledVisit) -> None:
    rules = [Rule("r_env", "deny", tool="Read", path="**/.env"), Rule("r_cat", "ask", command="cat *")]
    async with visit.hub(*rules) as hub:
        await visit.say(hub, "scouting", "bypassPermissions")
        asked = await next_ask(hub.desk, visit.session)
        assert (asked.tool, asked.agent is not None) == ("Bash", True)
        await hub.desk.answer(asked.id, Deny("No."))
        await visit.ended(hub)

        assert [result.is_error for result in visit.scouting.results] == [True, True]
        assert [denied_by(ask) for ask in await visit.asks(hub)] == ["r_env", ""]


async def test_what_no_rule_touches_runs_as_before_and_leaves_nothing_to_answer(visit: RuledVisit) -> None:
    rules = [Rule("r_other", "deny", path="/nowhere/**"), Rule("r_rm", "ask", command="rm *")]
    async with visit.hub(*rules) as hub:
        await visit.say(hub, "untouched", "default")
        await visit.ended(hub)

        assert await visit.asks(hub) == []
        results = visit.untouched.results
        assert [result.is_error for result in results] == [False, False]
        assert "SECRET" in results[0].text


async def test_a_call_that_is_made_while_no_hub_runs_waits_for_the_next_one(visit: RuledVisit) -> None:
    model, words = visit.home.model, b'"hook_callback"'
    async with visit.hub(EVERYTHING) as hub:
        await visit.say(hub, "alone", "default")
        async with asyncio.timeout(DEADLINE):
            await model.held("a hub is gone")
    before = journal(visit).count(words)
    model.release("a hub is gone")
    async with asyncio.timeout(DEADLINE):
        while journal(visit).count(words) == before:
            await asyncio.sleep(0.02)

    async with visit.home.open_hub(rules=[EVERYTHING]) as hub:
        await visit.ended(hub)
        assert [result.is_error for result in visit.alone.results] == [True]
        assert [denied_by(ask) for ask in await visit.asks(hub)] == ["r_all"]


async def test_a_command_that_cannot_be_read_is_asked_about_where_commands_are_denied(visit: RuledVisit) -> None:
    async with visit.hub(Rule("r_cat", "deny", command="cat *")) as hub:
        await visit.say(hub, "unreadable", "bypassPermissions")
        asked: set[str] = set()
        for _ in UNREADABLE:
            asked.add((ask := await next_ask(hub.desk, visit.session, asked)).id)
            await hub.desk.answer(ask.id, Deny("No."))
        await visit.ended(hub)

        assert [result.is_error for result in visit.unreadable.results] == [True, True]


def journal(visit: RuledVisit) -> bytes:
    """What Claude has written so far."""
    session = visit.session
    return (visit.home.tmp / "state" / "sessions" / session.id / str(session.run) / "out.ndjson").read_bytes()


def denied_by(ask: Ask) -> str:
    """The rule that denied it, if one did."""
    match ask.settlement:
        case Answered(answer=Deny(), by=ByRule(rule=rule)):
            return rule
        case _:
            return ""
