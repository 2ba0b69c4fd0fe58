"""Stories of a hub: an MCP server wants a link visited, and someone does, refuses, or is not needed."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Conflict
from handraise.hub.desk import LocalDesk
from handraise.hub.hub import Hub
from handraise.model.actors import TheHub
from handraise.model.answers import Filled
from handraise.model.asks import Answered, Ask, Form, Withdrawn
from handraise.model.items import AskDelivered, AskOpened, Notice
from handraise.model.rules import Rule
from handraise.present.cards import card_of
from stories.bed import parts
from stories.house import DEADLINE, House, next_ask
from stories.timeline import Stay, only, texts, until_turn

URL = "https://login.example.com:8443/oauth?x=1"


def sign_in(conversation: Conversation) -> Script:
    conversation = yield [use("mcp__links__sign_in")]
    yield [say(f"The tool: {conversation.result().text}")]


def sign_in_first(conversation: Conversation) -> Script:
    conversation = yield [use("mcp__links__sign_in_first")]
    yield [say(f"The tool: {conversation.result().text}")]


class Site(House):
    """A house whose Claude knows the server of links, and the website that reports what was completed."""

    def __init__(self, tmp: Path) -> None:
        names = ("mcp__links__sign_in", "mcp__links__sign_in_first")
        rules = tuple(Rule(f"r_{number}", "allow", tool=name) for number, name in enumerate(names))
        super().__init__(tmp, parts(visit=sign_in, first=sign_in_first), rules=rules)
        self._pipe = tmp / "completed"
        os.mkfifo(self._pipe)

    async def __aenter__(self) -> "Site":
        await super().__aenter__()
        arguments = [str(Path(__file__).with_name("link_server.py")), str(self._pipe)]
        server = {"type": "stdio", "command": sys.executable, "args": arguments, "alwaysLoad": True}
        (self.tmp / "home" / ".claude.json").write_text(json.dumps({"mcpServers": {"links": server}}))
        return self

    def complete(self, *links: str) -> None:
        self._pipe.write_text("".join(f"{link}\n" for link in links))


class Visit(Stay):
    """One session with the server of links, which counts its links."""

    home: Site

    def __init__(self, home: Site, hub: Hub) -> None:
        super().__init__(home, hub)
        self.links = 0

    async def asked(self, part: str) -> Ask:
        """The link that is to be visited next."""
        await self.begin(part)
        self.links += 1
        ask = await self.next_ask()
        assert isinstance(ask.body, Form)
        assert (ask.body.url, ask.body.schema) == (URL, {})
        return ask

    @property
    def link(self) -> str:
        return f"link-{self.links}"


@pytest.fixture(scope="module")
async def visit(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visit]:
    async with Site(tmp_path_factory.mktemp("house")) as home, home.open_hub() as hub:
        yield Visit(home, hub)


async def until_settled(desk: LocalDesk, ask: Ask) -> Ask:
    async with asyncio.timeout(DEADLINE), desk.follow(0, ask.session) as follower:
        async for _ in follower:
            now = await desk.ask(ask.id)
            if now.settlement is not None:
                return now
    raise AssertionError("the feed ended")


def outcome_of(ask: Ask) -> str:
    outcome = card_of(ask, None).outcome
    assert outcome is not None
    return outcome.text


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Filled("accept"), "finished on the website"),
        (Filled("decline"), "declined the link"),
        (Filled("cancel"), "dismissed the link"),
    ],
)
async def test_a_link_is_shown_with_its_host_and_answered(visit: Visit, answer: Filled, outcome: str) -> None:
    ask = await visit.asked("visit")
    link = card_of(ask, None).link
    assert link is not None
    assert (link.before, link.host, link.after) == ("https://", "login.example.com:8443", "/oauth?x=1")
    await visit.desk.answer(ask.id, answer, ask.digest)

    timeline = await visit.until_turn()
    assert texts(timeline) == [f'The tool: {{"action": "{answer.action}"}}']
    assert only(AskDelivered, timeline).count(AskDelivered(ask.id)) == 1
    assert outcome in outcome_of(await visit.desk.ask(ask.id))


async def test_a_link_that_is_completed_by_itself_settles_its_ask(visit: Visit) -> None:
    ask = await visit.asked("visit")
    # Another link, one of an earlier turn, and one that is yet to come are not this one.
    visit.home.complete("link-0", "link-1", f"link-{visit.links + 1}", visit.link, visit.link)

    timeline = await visit.until_turn()
    assert texts(timeline) == ['The tool: {"action": "accept"}']
    completed = await visit.desk.ask(ask.id)
    assert isinstance(completed.settlement, Answered)
    assert (completed.settlement.by, completed.settlement.source) == (TheHub(), "website")
    assert outcome_of(completed) == "Completed on the website"
    assert completed.delivered_at is not None
    with pytest.raises(Conflict, match="Already completed on the website"):
        await visit.desk.answer(ask.id, Filled("decline"), ask.digest)
    await visit.desk.answer(ask.id, Filled("accept"), ask.digest)  # who was about to say so is right
    assert visit.hub.pool.runner(visit.session.id) is not None  # and nobody took it for an alarm


async def test_an_answered_link_may_be_reported_as_completed_too(visit: Visit) -> None:
    ask = await visit.asked("visit")
    await visit.desk.answer(ask.id, Filled("decline"), ask.digest)
    visit.home.complete(visit.link)

    timeline = await visit.until_turn()
    assert texts(timeline) == ['The tool: {"action": "decline"}']
    assert outcome_of(await visit.desk.ask(ask.id)).endswith("declined the link")
    assert only(Notice, timeline) == []


async def test_a_tool_that_needs_a_link_first_is_called_again(visit: Visit) -> None:
    ask = await visit.asked("first")
    await visit.desk.answer(ask.id, Filled("accept"), ask.digest)

    timeline = await visit.until_turn()
    assert texts(timeline) == ["The tool: signed in at the second call"]
    assert [each.ask["kind"] for each in only(AskOpened, timeline)].count("form") == 1


async def test_an_interrupt_withdraws_a_link(visit: Visit) -> None:
    ask = await visit.asked("visit")
    await visit.desk.interrupt(visit.session.id)
    assert isinstance((await until_settled(visit.desk, ask)).settlement, Withdrawn)
    await visit.until_turn()
    visit.home.complete(visit.link)

    # What was withdrawn stays so, and the next link is another one.
    following = await visit.asked("visit")
    assert isinstance((await visit.desk.ask(ask.id)).settlement, Withdrawn)
    await visit.desk.answer(following.id, Filled("accept"), following.digest)
    await visit.until_turn()


async def test_a_link_that_is_completed_while_no_hub_runs_is_settled_by_the_next(tmp_path: Path) -> None:
    async with Site(tmp_path) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("visit", str(home.work))).session
            ask = await next_ask(first.desk, session)
        home.complete("link-1")

        async with home.open_hub() as second:
            timeline = await until_turn(second.desk, session)
            assert texts(timeline) == ['The tool: {"action": "accept"}']
            assert outcome_of(await second.desk.ask(ask.id)) == "Completed on the website"
