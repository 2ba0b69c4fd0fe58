"""A hub on a busy day: sessions in every state, a card of every kind, a conversation. Written to the store only."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import count
from typing import Any

from browser.talk import LONG, TITLE, conversation
from browser.wares import BRANCH, DATABASE, DOCS, EDIT, FORM, NOW, NPM_TEST, PAY, PLAN, SHOP, ago
from handraise.model.abilities import Abilities, ModelChoice, SlashCommand
from handraise.model.actors import Actor, ByRule, Person
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Answered, Ask, Body, Expired, Form, Origin, Permission, Plan, Settlement
from handraise.model.projects import Options, Project
from handraise.model.rules import Rule
from handraise.model.sessions import Ended, Phase, Session
from handraise.serving.serve import RunningHub
from handraise.session import abilities
from handraise.store.changes import Change, DeliverAsk, OpenAsk, SaveProject, SaveSession, SettleAsk

BYPASS = "s_bypass"
ANN, OWNER = Person("ann"), Person("owner")
_TOOLS = {"Question": "AskUserQuestion", "Plan": "ExitPlanMode", "Form": "mcp__release__ship"}
_ENDINGS = (
    ("Check the invoices of March", Ended("failed", "The API key was refused (401).", ago(300))),
    ("Draw the architecture", Ended("lost", "the machine was restarted", ago(700))),
    ("Remove the old checkout", Ended("finished", "", ago(1100))),
    ("Answer the accessibility report", Ended("stopped", "ann stopped it", ago(1500))),
    ("Find unused styles", Ended("finished", "", ago(1900))),
)
_RULES = (
    Rule("", "allow", tool="Bash", command="npm run *", project="p_0"),
    Rule("", "deny", tool="Bash", command="git push *", message="Open a pull request."),
    Rule("", "ask", path="migrations/**", project="p_1"),
)


_OFFERED = Abilities(
    (
        SlashCommand("compact", "Clear the conversation, but keep a summary of it", "[what to keep]"),
        SlashCommand("context", "Show what is in the context"),
        SlashCommand("review", "Review a pull request", "[number]"),
        SlashCommand("release:notes", "Write the release notes of this project"),
    ),
    (
        ModelChoice("opus", "Opus", "Best for everyday, complex tasks"),
        ModelChoice("sonnet", "Sonnet", "Efficient for routine tasks"),
        ModelChoice("haiku", "Haiku", "Fastest for quick answers"),
    ),
)


class Showroom:
    """Fills the store of a running hub. Everything is dated before `NOW`."""

    def __init__(self, up: RunningHub) -> None:
        self._up = up
        self._numbers = count(1)

    async def fill(self) -> None:
        """All of it."""
        await self._up.hub.store.apply([*_projects(), *_sessions(), *self._open(), *conversation(self.settled)])
        store = self._up.hub.store
        await store.apply(abilities.saved(_OFFERED, store.machine, SHOP))
        made = [(await self._up.hub.desk.add_rule(rule)).id for rule in _RULES]
        await self._up.hub.store.apply([each for day in range(14) for each in self._day(day, made[0])])

    async def ask(self, body: Body, session: str | None, minutes: float = 0, **more: Any) -> Ask:
        """Adds an open ask."""
        ask = self._ask(body, session, minutes, **more)
        await self._up.hub.store.apply([OpenAsk(ask)])
        return ask

    def settled(self, body: Body, session: str, minutes: float, settlement: Settlement) -> list[Change]:
        """Adds a settled ask."""
        ask = self._ask(body, session, minutes)
        delivered = [DeliverAsk(ask.id, settlement.at)] if isinstance(settlement, Answered) else []
        return [OpenAsk(ask), SettleAsk(ask.id, settlement), *delivered]

    def _ask(self, body: Body, session: str | None, minutes: float, **more: Any) -> Ask:
        name = f"a_{next(self._numbers)}"
        tool = body.tool if isinstance(body, Permission) else _TOOLS[type(body).__name__]
        why = "No rule says anything about this, and the mode is to ask before each change."
        return Ask(
            name,
            session,
            None,
            body,
            tool,
            Origin(name),
            ago(minutes),
            "session" if session else "agent",
            why=why,
            **more,
        )

    def _open(self) -> Iterable[Change]:
        soon = NOW + timedelta(seconds=250)
        yield OpenAsk(self._ask(Plan(PLAN), "s_orders", 14))
        yield OpenAsk(self._ask(EDIT, "s_limit", 11))
        for number, session in enumerate(("s_flaky", "s_deps", "s_lint")):
            yield OpenAsk(self._ask(NPM_TEST, session, 7 - number))
        yield OpenAsk(self._ask(Form("What should be shipped?", "release", FORM), "s_ship", 4))
        yield OpenAsk(self._ask(DATABASE, "s_data", 3))
        yield OpenAsk(self._ask(BRANCH, None, 2, agent="nightly-cleaner", expires_at=soon))
        yield from self.settled(BRANCH, "s_api", 20, Expired(ago(15)))

    def _day(self, day: int, rule: str) -> Iterable[Change]:
        for number in range((day * 5 + 3) % 9 + 2):
            minutes = 60 * 24 * day + 40 + 50 * number
            took = (0.1, 0.4, 1.5, 6, 25, 90)[(day + number) % 6]
            by: Actor = ByRule(rule, "A rule allows `npm run *`.") if number % 3 == 1 else ANN if number % 3 else OWNER
            source = "rule" if isinstance(by, ByRule) else "web"
            at = ago(minutes) if isinstance(by, ByRule) else ago(minutes - min(took, minutes / 2))
            answer = Deny("Not on a Friday.") if number % 5 == 4 else Allow()
            yield from self.settled(NPM_TEST, "s_idle", minutes, Answered(answer, by, source, at))


def _projects() -> Iterable[Change]:
    for number, path in enumerate((SHOP, PAY, DOCS)):
        options = Options(mode="acceptEdits", allowed_tools=("Read", "Grep"), parallel=2) if number == 0 else Options()
        yield SaveProject(Project(f"p_{number}", path.rsplit("/", 1)[1], path, options, ago(9000)))


def _sessions() -> Iterable[Change]:
    yield _session("s_orders", "Move orders to PostgreSQL", SHOP, 64, mode="plan", cost_usd=0.84)
    yield _session("s_limit", "Rewrite the rate limiter", SHOP, 41, cost_usd=1.92)
    yield _session("s_flaky", "Fix the flaky checkout test", SHOP, 22, cost_usd=0.31)
    yield _session("s_deps", "Upgrade dependencies", PAY, 18, cost_usd=0.12)
    yield _session("s_lint", "Lint everything, once", DOCS, 12, cost_usd=0.05)
    yield _session("s_ship", "Release 2.4", PAY, 9, cost_usd=0.02)
    yield _session("s_data", "Choose where orders live", SHOP, 6, cost_usd=0.4)
    yield _session(LONG, TITLE, SHOP, 55, cost_usd=3.11)
    yield _session("s_api", "Document the API", DOCS, 15, cost_usd=0.22)
    yield _session(BYPASS, "Rebuild the search index", PAY, 5, mode="bypassPermissions", cost_usd=0.61)
    yield _session("s_stuck", "Rename the customer table", PAY, 30, stuck_since=ago(0.8), cost_usd=0.3)
    yield _session("s_idle", "Why is the first page slow?", SHOP, 190, "idle", cost_usd=0.77)
    yield _session("s_queue1", "Convert the pictures", SHOP, 3, "queued")
    yield _session("s_queue2", "Count the words", DOCS, 2, "queued")
    for number, (title, ended) in enumerate(_ENDINGS):
        where = (SHOP, PAY, DOCS)[number % 3]
        yield _session(f"s_end{number}", title, where, 1000 + 900 * number, "ended", ended=ended, cost_usd=0.4 * number)


def _session(name: str, title: str, where: str, minutes: float, phase: Phase = "working", **more: Any) -> SaveSession:
    changed = ago(minutes / 3)
    return SaveSession(Session(name, None, where, f"claude-{name}", title, ago(minutes), changed, phase, run=1, **more))
