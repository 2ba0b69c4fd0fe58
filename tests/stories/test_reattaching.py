"""Stories of hubs that adopt a Claude and compare what is open with what it says it waits on."""

from collections.abc import AsyncIterator, Callable

import pytest
from msgspec.structs import replace

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import Hub
from handraise.model.answers import Allow
from handraise.model.asks import Ask, Origin, Withdrawn
from handraise.model.items import AskDelivered, Content, Frame, Notice, TurnEnded
from handraise.model.rules import Rule
from handraise.session.memory import Memory, Pending
from handraise.session.pending import ask_id
from handraise.store.changes import Advance, OpenAsk
from handraise.store.sqlite.store import SqliteStore
from stories.house import House, next_ask, seen
from stories.timeline import only, texts, times

NEVER = Rule("never", "deny", command="touch never *", message="Not here.")


def work(conversation: Conversation) -> Script:
    while True:
        conversation = yield [use("Bash", command="touch done", description="Touch")]
        conversation = yield [use("Bash", command="touch never again", description="Touch")]
        conversation = yield [say(f"Heard: {conversation.result().text}")]


@pytest.fixture(scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with House(tmp_path_factory.mktemp("house"), work, rules=[NEVER]) as home:
        yield home


async def begin(hub: Hub, home: House) -> Ask:
    session = (await hub.desk.start("Work.", str(home.work))).session
    return await next_ask(hub.desk, session)


async def change_memory(home: House, ask: Ask, change: Callable[[Memory], None], *more: OpenAsk) -> None:
    """While no hub is running."""
    async with SqliteStore(home.tmp / "state" / "hub.db") as store:
        assert ask.session is not None
        checkpoint = await store.checkpoint(ask.session)
        assert checkpoint is not None
        memory = Memory.load(checkpoint.memory)
        change(memory)
        await store.apply([*more, Advance(replace(checkpoint, memory=memory.dump()))])


def differences(contents: list[Content]) -> list[str]:
    return [each.text for each in only(Notice, contents) if each.about == "reattached"]


async def finish(hub: Hub, ask: Ask) -> list[Content]:
    """Answers it; the rule must still object to the next call."""
    await hub.desk.answer(ask.id, Allow(), ask.digest)
    contents = await seen(hub.desk, times(1, TurnEnded), ask.session)
    assert "Not here." in texts(contents)[-1]
    assert len(only(AskDelivered, contents)) >= 1
    assert only(Frame, contents) == []
    return contents


async def test_a_hub_that_agrees_with_claude_says_nothing_and_its_rules_stay_in_force(home: House) -> None:
    async with home.open_hub() as first:
        ask = await begin(first, home)

    async with home.open_hub() as second:
        assert [each.id for each in await second.desk.asks(session=ask.session)] == [ask.id]
        assert differences(await finish(second, ask)) == []


async def test_a_request_that_the_hub_did_not_know_is_asked(home: House) -> None:
    async with home.open_hub() as first:
        ask = await begin(first, home)
    await change_memory(home, ask, lambda memory: memory.requests.clear())

    async with home.open_hub() as second:
        contents = await seen(second.desk, lambda content: bool(differences([content])), ask.session)
        assert differences(contents) == [
            "Claude was waiting for a request that the hub didn't know about. It is open now."
        ]
        assert [each.id for each in await second.desk.asks(session=ask.session)] == [ask.id]
        await finish(second, ask)


async def test_an_ask_that_claude_does_not_wait_on_is_withdrawn_and_the_other_stays(home: House) -> None:
    async with home.open_hub() as first:
        ask = await begin(first, home)
    assert ask.session is not None
    lost = replace(ask, id=ask_id(ask.session, "gone"), origin=Origin("gone", "toolu_gone", ask.origin.request))

    def add(memory: Memory) -> None:
        memory.requests["gone"] = Pending(lost.id, "toolu_gone", is_permission=True)

    await change_memory(home, ask, add, OpenAsk(lost))

    async with home.open_hub() as second:
        contents = await seen(second.desk, lambda content: bool(differences([content])), ask.session)
        assert len(differences(contents)) == 1
        settlement = (await second.desk.ask(lost.id)).settlement
        assert isinstance(settlement, Withdrawn)
        assert settlement.reason == "Claude no longer waits for this request"
        assert [each.id for each in await second.desk.asks(session=ask.session)] == [ask.id]
        await finish(second, ask)
