"""The card goes out with every ask, and traits with every action; neither is ever stored."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from api.events import feed
from api.served import A, B, error_of, served
from handraise import texts
from handraise.api.cards import AskCards
from handraise.model.actors import Person
from handraise.model.answers import Deny
from handraise.model.asks import Answered, Ask, Origin, Permission, Withdrawn
from handraise.model.items import ActionStarted, Item
from handraise.store import contents
from handraise.store.changes import PublishItems, SettleAsk

READ = Permission("Read", {"file_path": "/work/src/a.py"})


async def test_a_card_comes_with_every_ask(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client, hub.neighbour() as owner:
        session = await hub.session()
        ask = await hub.ask(READ, session=session.id)
        question = await hub.ask()

        listed = (await client.get("/api/asks")).json()["asks"]
        one = (await client.get(f"/api/asks/{ask.id}")).json()
        answered = (await client.post(f"/api/asks/{question.id}/answer", json={"answer": A})).json()
        other = await owner.post(f"/api/asks/{question.id}/answer", json={"answer": B})

        # Paths are relative to the session's directory.
        assert [each["card"]["headline"] for each in listed] == ["Read `src/a.py`?", "Which?"]
        assert one["card"] == listed[0]["card"]
        assert one["card"]["risk"] == {"level": "low", "reason": ""}
        outcome = {"text": "a approver answered: A", "yours": "You answered: A", "brief": "", "yours_brief": ""}
        assert answered["card"]["outcome"] == outcome
        assert answered["card"]["choices"] == []
        assert error_of(other)["ask"]["card"]["outcome"]["text"] == "a approver answered: A"


async def test_the_feed_says_the_card_of_what_opens_and_the_outcome_of_what_is_settled(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        session = await hub.session()
        ask = await hub.ask(READ, session=session.id)
        answered = Answered(Deny("Not now"), Person("ana"), "web", datetime.now(UTC))
        await hub.up.hub.store.apply([SettleAsk(ask.id, answered)])

        async with feed(client, after=0) as stream:
            news = {}
            while "ask.settled" not in news:
                event = await anext(stream)
                news[event.data.get("type")] = event.data
        listed = (await client.get("/api/items")).json()["items"]

        opened, settled = news["ask.opened"], news["ask.settled"]
        assert opened["ask"]["card"]["headline"] == "Read `src/a.py`?"
        assert opened["ask"]["card"]["outcome"] is None
        assert settled["outcome"]["text"] == "ana denied Read `src/a.py`: “Not now”"
        assert settled["outcome"]["yours"] == "You denied Read `src/a.py`: “Not now”"
        assert [each for each in listed if each["type"] in news and each["type"].startswith("ask.")] == [
            opened,
            settled,
        ]


async def test_the_feed_says_the_traits_of_the_tool_of_an_action_and_stores_none(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        started = ActionStarted("t_1", "file_change", "/work/a", "Write", {"file_path": "/work/a", "tool": "x"})
        strange = ActionStarted("t_2", "tool", "x", "strange", {})
        now = datetime.now(UTC)
        await hub.up.hub.store.apply([PublishItems("s_1", now, content) for content in (started, strange)])

        items = (await client.get("/api/items")).json()["items"]
        document = (await client.get("/api/openapi.json")).json()

        assert items[0]["tool"] == "Write"
        assert items[0]["traits"]["verb"] == "Wrote"
        assert items[0]["traits"]["change"] == "whole"
        assert items[1]["traits"]["kind"] == "other"
        assert set(document["components"]["schemas"]["ToolTraits"]["properties"]) == set(items[0]["traits"])
        contents = [msgspec.json.decode(item.content) for item in await hub.up.hub.store.items()]
        assert all("traits" not in each for each in contents)


async def test_no_card_is_stored(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        ask = await hub.ask(READ)
        await hub.up.hub.store.apply([SettleAsk(ask.id, Withdrawn("gone", datetime.now(UTC)))])

        contents = [msgspec.json.decode(item.content) for item in await hub.up.hub.store.items()]

        assert [each["type"] for each in contents] == ["ask.opened", "ask.settled"]
        assert "card" not in contents[0]["ask"]
        assert "outcome" not in contents[1]


async def test_an_ask_whose_session_is_unknown_has_a_card_with_whole_paths(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        ask = await hub.ask(READ, session="s_gone")

        assert (await client.get(f"/api/asks/{ask.id}")).json()["card"]["headline"] == "Read `/work/src/a.py`?"


async def test_the_hub_says_its_language_and_gives_its_texts(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client, hub.client() as nobody:
        ask = await hub.ask(READ)
        assert (await client.get("/api/me")).json()["language"] == "en"
        assert (await client.get("/api/me")).json()["tools"]["Bash"] == "shell"
        assert (await client.get("/api/texts")).json()["card"]["choice"]["permission"]["once"] == "Allow once"
        assert (await nobody.get("/api/texts")).status_code == 401
        assert (await nobody.get("/api/login")).json() == {"language": "en", "texts": {}}
        with texts.using("en-XA"):
            page = (await nobody.get("/api/login")).json()
            assert (page["language"], page["texts"]["page"]["login"]["button"]) == ("en-XA", "⟦Šíǧñ íñ~~~⟧")
            assert (await client.get("/api/me")).json()["language"] == "en-XA"
            once = (await client.get("/api/texts")).json()["card"]["choice"]["permission"]["once"]
            assert once == "⟦Åłłóŵ óñçé~~~~⟧"
            card = (await client.get(f"/api/asks/{ask.id}")).json()["card"]
            assert card["choices"][0]["label"] == once


def opened(ask: Ask) -> Item:
    return Item(1, ask.session, ask.opened_at, contents.encode(contents.opened(ask)))


def test_a_card_that_was_made_before_the_commit_is_the_same_card() -> None:
    ask = Ask("a_1", None, None, READ, "Read", Origin("r_1"), datetime.now(UTC))
    made_after, made_before = AskCards(), AskCards()
    made_before.foresee([ask])
    for cards in (made_after, made_before):
        cards.hear([ask])

    assert made_before.item_now(opened(ask)) == made_after.item_now(opened(ask))
    assert made_before.item_now(opened(ask), cut=True) == made_after.item_now(opened(ask), cut=True)


def test_a_card_of_an_ask_that_was_not_committed_is_not_shown() -> None:
    ask = Ask("a_1", None, None, READ, "Read", Origin("r_1"), datetime.now(UTC))
    other = replace(ask, body=Permission("Read", {"file_path": "/work/src/b.py"}))
    cards = AskCards()
    cards.foresee([ask])
    cards.hear([other])

    shown = cards.item_now(opened(other))
    assert shown is not None
    assert json.loads(shown)["ask"]["card"]["headline"] == "Read `/work/src/b.py`?"


def test_an_ask_whose_directory_is_not_known_is_not_foreseen() -> None:
    ask = Ask("a_1", "s_1", None, READ, "Read", Origin("r_1"), datetime.now(UTC))
    cards = AskCards()
    cards.foresee([ask])
    cards.hear([ask])

    assert cards.item_now(opened(ask)) is None
