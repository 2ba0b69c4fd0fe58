"""Rules also apply to what Claude Code does without asking: in every mode, and in sub-agents."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handraise.demo.pieces import Script, Use, agent, hold, say, use
from handraise.demo.request import Conversation, ToolOutcome
from handraise.hub.desk import LocalDesk
from handraise.model.actors import ByRule
from handraise.model.answers import Allow, Choice, Choices, Deny
from handraise.model.asks import Answered, Ask
from handraise.model.items import ActionEnded, TurnEnded
from handraise.model.rules import Rule
from handraise.model.sessions import Session
from stories.house import DEADLINE, House, next_ask, seen

EVERYTHING = Rule("r_all", "deny", tool="*", message="Not here.")
QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}],
    "multiSelect": False,
}


class BypassHouse(House):
    """Where bypassPermissions is available, also for root."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "IS_SANDBOX": "1"}

    async def __aenter__(self) -> "BypassHouse":
        await super().__aenter__()
        (self.work / ".env").write_text("SECRET=1\n")
        return self


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

    def script(self, conversation: Conversation) -> Script:
        while True:  # once for each later turn
            conversation = yield unasked(conversation.directory) if self._calls is None else self._calls
            self.results += conversation.results
            conversation = yield [say("Done.")]


async def test_a_rule_denies_every_call_in_every_mode(tmp_path: Path) -> None:
    played = Played()
    async with BypassHouse(tmp_path, played.script, rules=[EVERYTHING]) as home, home.open_hub() as hub:
        for mode, other in (("bypassPermissions", "acceptEdits"), ("dontAsk", "default")):
            session = (await hub.desk.start("Look.", str(home.work), mode=mode)).session
            await ended(hub.desk, session)
            await hub.desk.change_mode(session.id, other)
            await hub.desk.say(session.id, "Look.")
            outcome = await ended(hub.desk, session, turns=2)
            assert [content for content in outcome if isinstance(content, ActionEnded) and content.ok] == []

        calls = len(unasked("")) * 4
        assert len(played.results) == calls
        assert all(result.is_error and "Not here." in result.text for result in played.results)
        # Each is stored, with the rule that denied it, and nobody was asked.
        asks = await hub.desk.asks(state=None, limit=1000)
        assert len(asks) == calls
        assert {denied_by(ask) for ask in asks} == {"r_all"}
        entries = await hub.desk.audit(what="answered", limit=1000)
        assert [entry.rule for entry in entries] == ["r_all"] * calls
        assert home.model.errors == []


async def test_a_rule_that_asks_makes_one_ask_in_every_mode(tmp_path: Path) -> None:
    def script(conversation: Conversation) -> Script:
        while True:  # once for each later turn
            conversation = yield [use("Read", file_path=f"{conversation.directory}/.env")]
            conversation = yield [use("Bash", command="ls && cat .env")]
            conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
            conversation = yield [say("Done.")]

    # In dontAsk, Claude denies questions by itself, and asks us about calls that a rule wants to ask about.
    rules = [Rule("r_env", "ask", path="**/.env"), Rule("r_cat", "ask", command="cat *")]
    async with BypassHouse(tmp_path, script, rules=rules) as home, home.open_hub() as hub:
        session = (await hub.desk.start("Look.", str(home.work), mode="bypassPermissions")).session
        for turn, mode in enumerate(("", "acceptEdits", "default"), 1):
            if mode:
                await hub.desk.change_mode(session.id, mode)
                await hub.desk.say(session.id, "Look.")
            read = await next_ask(hub.desk, session)
            assert (read.tool, "r_env" in read.why) == ("Read", True)
            await hub.desk.answer(read.id, Allow())
            cat = await next_ask(hub.desk, session, {read.id})
            assert (cat.tool, "r_cat" in cat.why) == ("Bash", True)
            await hub.desk.answer(cat.id, Deny("No."))
            question = await next_ask(hub.desk, session, {read.id, cat.id})
            await hub.desk.answer(question.id, Choices((Choice(("A",)),)))
            conversation = await ended(hub.desk, session, turns=turn)

            assert [content.ok for content in conversation if isinstance(content, ActionEnded)] == [
                True,
                False,
                True,
            ] * turn
            kinds = [ask.kind for ask in await hub.desk.asks(state=None, session=session.id)]
            assert kinds == ["permission", "permission", "question"] * turn
        assert home.model.errors == []


async def test_sub_agents_are_ruled_too(tmp_path: Path) -> None:
    results: list[ToolOutcome] = []

    def scout(conversation: Conversation) -> Script:
        conversation = yield [use("Read", file_path=f"{conversation.directory}/.env")]
        results.append(conversation.result())
        conversation = yield [use("Bash", command="cat .env")]
        results.append(conversation.result())
        yield [say("Nothing to be seen.")]

    def script(conversation: Conversation) -> Script:
        yield [agent("Look", "Look around", scout)]
        yield [say("Done.")]

    rules = [Rule("r_env", "deny", tool="Read", path="**/.env"), Rule("r_cat", "ask", command="cat *")]
    async with BypassHouse(tmp_path, script, rules=rules) as home, home.open_hub() as hub:
        session = (await hub.desk.start("Look.", str(home.work), mode="bypassPermissions")).session
        asked = await next_ask(hub.desk, session)
        assert (asked.tool, asked.agent is not None) == ("Bash", True)
        await hub.desk.answer(asked.id, Deny("No."))
        await ended(hub.desk, session)

        assert [result.is_error for result in results] == [True, True]
        assert [denied_by(ask) for ask in await hub.desk.asks(state=None, session=session.id)] == ["r_env", ""]


async def test_what_no_rule_touches_runs_as_before_and_leaves_nothing_to_answer(tmp_path: Path) -> None:
    played = Played([use("Bash", command="cat .env"), use("CronList")])
    rules = [Rule("r_other", "deny", path="/nowhere/**"), Rule("r_rm", "ask", command="rm *")]
    async with BypassHouse(tmp_path, played.script, rules=rules) as home, home.open_hub() as hub:
        session = (await hub.desk.start("Look.", str(home.work))).session
        await ended(hub.desk, session)

        assert await hub.desk.asks(state=None) == []
        assert [result.is_error for result in played.results] == [False, False]
        assert "SECRET" in played.results[0].text


async def test_a_call_that_is_made_while_no_hub_runs_waits_for_the_next_one(tmp_path: Path) -> None:
    results: list[ToolOutcome] = []

    def script(conversation: Conversation) -> Script:
        conversation = yield [hold("a hub is gone"), use("Read", file_path=f"{conversation.directory}/.env")]
        results.append(conversation.result())
        yield [say("Done.")]

    async with BypassHouse(tmp_path, script, rules=[EVERYTHING]) as home:
        async with home.open_hub() as hub:
            session = (await hub.desk.start("Look.", str(home.work))).session
            async with asyncio.timeout(DEADLINE):
                await home.model.held("a hub is gone")
        home.model.release("a hub is gone")
        await heard(home, session, b'"hook_callback"')

        async with home.open_hub() as hub:
            await ended(hub.desk, session)
            assert [result.is_error for result in results] == [True]
            assert [denied_by(ask) for ask in await hub.desk.asks(state=None)] == ["r_all"]


async def test_a_command_that_cannot_be_read_is_asked_about_where_commands_are_denied(tmp_path: Path) -> None:
    commands = ('eval "$(echo Y2F0IC5lbnY= | base64 -d)"', "$X .env")
    played = Played([use("Bash", command=each) for each in commands])
    rules = [Rule("r_cat", "deny", command="cat *")]
    async with BypassHouse(tmp_path, played.script, rules=rules) as home, home.open_hub() as hub:
        session = (await hub.desk.start("Look.", str(home.work), mode="bypassPermissions")).session
        asked: set[str] = set()
        for _ in commands:
            asked.add((ask := await next_ask(hub.desk, session, asked)).id)
            await hub.desk.answer(ask.id, Deny("No."))
        await ended(hub.desk, session)

        assert [result.is_error for result in played.results] == [True, True]


async def ended(desk: LocalDesk, session: Session, turns: int = 1) -> list[Any]:
    """All contents until this many turns are over."""
    left = iter(range(turns - 1, -1, -1))
    return await seen(desk, lambda content: isinstance(content, TurnEnded) and next(left) == 0, session.id)


async def heard(home: House, session: Session, words: bytes) -> None:
    """Waits until Claude has written this, while no hub runs."""
    journal = home.tmp / "state" / "sessions" / session.id / "1" / "out.ndjson"
    async with asyncio.timeout(DEADLINE):
        while words not in journal.read_bytes():
            await asyncio.sleep(0.02)


def denied_by(ask: Ask) -> str:
    """The rule that denied it, if one did."""
    match ask.settlement:
        case Answered(answer=Deny(), by=ByRule(rule=rule)):
            return rule
        case _:
            return ""
