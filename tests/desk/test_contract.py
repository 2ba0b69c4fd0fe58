"""What every desk promises, however it reaches the hub."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from desk.conftest import Seats, Sit
from desk.hubs import BASH, NOON, QUESTION, put_ask, put_session, put_text, quiet_hub
from handraise.desk.interface import (
    Conflict,
    Desk,
    LostPlace,
    NotFound,
    Refused,
    TooLate,
    Unfit,
)
from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.model.answers import Allow, Choice, Choices, Deny
from handraise.model.asks import Answered, Expired, Origin
from handraise.model.items import AskSettled, Item, Preview, Said, SessionChanged, SessionEnded, Text
from handraise.model.projects import Options, Patience
from handraise.model.rules import Rule
from handraise.model.search import SearchFilter
from handraise.model.sessions import Ended, Phase, Session
from handraise.store.changes import Prune, PublishItems, SaveSession

DEADLINE = 60.0
SQLITE, POSTGRES = Choices((Choice(("SQLite",)),)), Choices((Choice(("Postgres",)),))
ANA, BEN = Person("ana"), Person("ben")


class DeskRoom:
    """A hub, and ana's desk; others can sit down."""

    def __init__(self, opened: Hub, ana: Desk, sit: Sit) -> None:
        self.hub = opened
        self.ana = ana
        self.sit = sit


@pytest.fixture
async def room(seats: Seats, tmp_path: Path) -> AsyncIterator[DeskRoom]:
    async with quiet_hub(tmp_path) as opened, seats(opened) as sit:
        yield DeskRoom(opened, await sit(ANA, "web"), sit)


@pytest.fixture
async def ben(room: DeskRoom) -> Desk:
    return await room.sit(BEN, "telegram")


async def first(desk: Desk, after: int | None, count: int, session: str | None = None) -> list[Item]:
    """So many items, followed from a place on."""
    found: list[Item] = []
    async with asyncio.timeout(DEADLINE), desk.follow(after, session) as follower:
        async for news in follower:
            found += () if isinstance(news, Preview) else news
            if len(found) >= count:
                return found
    raise AssertionError(f"the feed ended: {found}")


def texts(items: Sequence[Item]) -> list[str]:
    return [content.text for content in (item.read() for item in items) if isinstance(content, Text)]


async def test_a_desk_says_who_sits_there(room: DeskRoom, ben: Desk) -> None:
    assert (room.ana.person.name, room.ana.source) == (ANA.name, "web")
    assert (ben.person.name, ben.source) == (BEN.name, "telegram")


async def test_sessions_are_listed_newest_first_with_their_open_asks(room: DeskRoom) -> None:
    await put_session(room.hub, "s_1")
    await put_session(room.hub, "s_2")
    await put_ask(room.hub, "a_1", session="s_2")
    await put_ask(room.hub, "a_2", session="s_2")

    seen = {each.session.id: each.open_asks for each in await room.ana.sessions()}

    assert seen == {"s_1": 0, "s_2": 2}
    assert (await room.ana.session("s_2")).open_asks == 2


async def test_a_session_says_in_one_line_what_it_did_last(room: DeskRoom) -> None:
    await put_session(room.hub, "s_1")
    await put_session(room.hub, "s_2")
    await put_text(room.hub, "Let me look.\nFirst at the tests.", "s_2")

    assert {each.session.id: each.last_line for each in await room.ana.sessions()} == {"s_1": "", "s_2": "Let me look."}
    assert (await room.ana.session("s_2")).last_line == "Let me look."


async def test_what_does_not_exist_is_told_in_a_sentence(room: DeskRoom) -> None:
    for call in (
        room.ana.session("s_9"),
        room.ana.ask("a_9"),
        room.ana.answer("a_9", Allow()),
        room.ana.say("s_9", "hello"),
        room.ana.interrupt("s_9"),
        room.ana.stop("s_9"),
        room.ana.rename("s_9", "x"),
        room.ana.resume("s_9"),
        room.ana.fork("s_9", "x"),
        room.ana.change_mode("s_9", "plan"),
        room.ana.change_model("s_9", "opus"),
        room.ana.revoke("r_9"),
        room.ana.start("hello", "nowhere"),
        room.ana.start("hello", "/no/such/directory"),
        room.ana.change_project("p_9", "x", None),
    ):
        with pytest.raises(NotFound, match=r"\w+ .*\."):
            await call


async def test_asks_are_found_by_state_kind_and_session(room: DeskRoom) -> None:
    await put_ask(room.hub, "a_1")
    await put_ask(room.hub, "a_2", BASH)
    await put_ask(room.hub, "a_3", session="s_2")
    await room.ana.answer("a_3", SQLITE)

    assert [ask.id for ask in await room.ana.asks()] == ["a_1", "a_2"]
    assert [ask.id for ask in await room.ana.asks(kind="permission")] == ["a_2"]
    assert [ask.id for ask in await room.ana.asks(state=None, session="s_2")] == ["a_3"]
    assert [ask.id for ask in await room.ana.asks(state="answered")] == ["a_3"]
    assert (await room.ana.ask("a_1")).body == QUESTION


async def test_asks_are_read_from_either_end_as_many_as_wanted(room: DeskRoom) -> None:
    for number in range(1, 6):
        await put_ask(room.hub, f"a_{number}")

    assert [ask.id for ask in await room.ana.asks(limit=2)] == ["a_1", "a_2"]
    assert [ask.id for ask in await room.ana.asks(limit=2, after="a_2")] == ["a_3", "a_4"]
    assert [ask.id for ask in await room.ana.asks(newest_first=True, limit=3)] == ["a_5", "a_4", "a_3"]
    assert [ask.id for ask in await room.ana.asks(newest_first=True, after="a_3")] == ["a_2", "a_1"]


async def test_an_ask_says_at_which_action_it_was_raised(room: DeskRoom) -> None:
    await put_ask(room.hub, origin=Origin("r_1", "toolu_1"))

    assert (await room.ana.ask("a_1")).origin.tool_use == "toolu_1"


async def test_an_answer_counts_for_the_person_who_gave_it(room: DeskRoom, ben: Desk) -> None:
    ask = await put_ask(room.hub)

    given = await ben.answer("a_1", SQLITE, ask.digest)

    assert not given.late
    assert isinstance(given.ask.settlement, Answered)
    assert (given.ask.settlement.by, given.ask.settlement.source) == (BEN, "telegram")
    assert await room.ana.ask("a_1") == given.ask


async def test_whoever_comes_second_is_told_how_it_stands(room: DeskRoom, ben: Desk) -> None:  # lesson 30
    await put_ask(room.hub)
    given = await room.ana.answer("a_1", SQLITE)

    assert await ben.answer("a_1", SQLITE) == given
    with pytest.raises(Conflict, match=r"by ana \(web\): SQLite") as error:
        await ben.answer("a_1", POSTGRES)
    assert error.value.ask == given.ask


async def test_an_answer_to_something_else_is_a_conflict(room: DeskRoom) -> None:
    await put_ask(room.hub)

    with pytest.raises(Conflict, match="Review it again"):
        await room.ana.answer("a_1", SQLITE, "sha256:0000")


async def test_an_answer_that_does_not_fit_leaves_the_ask_open(room: DeskRoom) -> None:  # lesson 36
    await put_ask(room.hub)

    with pytest.raises(Unfit, match="has no answer yet"):
        await room.ana.answer("a_1", Choices((Choice(),)))
    with pytest.raises(Unfit):
        await room.ana.answer("a_1", Allow())
    assert (await room.ana.ask("a_1")).state == "open"


async def test_a_withdrawn_ask_is_too_late_to_answer(room: DeskRoom) -> None:
    await put_ask(room.hub)
    await room.hub.inbox.withdraw("a_1", "the turn was interrupted")

    with pytest.raises(TooLate, match="the turn was interrupted") as error:
        await room.ana.answer("a_1", SQLITE)
    assert error.value.ask.state == "withdrawn"


async def test_a_late_answer_counts_as_guidance(room: DeskRoom, ben: Desk) -> None:
    await put_session(room.hub)
    await put_ask(room.hub, patience=Patience(question=0))
    async with asyncio.timeout(DEADLINE):
        while (await room.ana.ask("a_1")).state == "open":
            await room.hub.inbox.expire()

    given = await room.ana.answer("a_1", SQLITE)

    assert given.late
    assert isinstance(given.ask.settlement, Expired)
    assert given.ask.settlement.late is not None
    with pytest.raises(Conflict):
        await ben.answer("a_1", POSTGRES)


async def test_an_answer_of_one_person_reaches_the_feed_of_another(room: DeskRoom, ben: Desk) -> None:  # lesson 33
    await put_ask(room.hub)
    async with asyncio.timeout(DEADLINE), ben.follow(await ben.newest()) as follower:
        await room.ana.answer("a_1", SQLITE)
        news = await anext(follower)

    assert not isinstance(news, Preview)
    (settled,) = [item.read() for item in news]
    assert isinstance(settled, AskSettled)
    assert settled.settlement["by"]["name"] == "ana"


async def test_history_and_what_comes_are_followed_without_a_gap(room: DeskRoom) -> None:  # lesson 46
    for number in range(30):
        await put_text(room.hub, str(number))
    cursor = await room.ana.newest()
    following = asyncio.create_task(first(room.ana, 0, 60))
    for number in range(30, 60):
        await put_text(room.hub, str(number))

    items = await following

    assert texts(items) == [str(number) for number in range(60)]
    assert [item.cursor for item in items] == sorted({item.cursor for item in items})
    assert texts(await first(room.ana, cursor, 30)) == [str(number) for number in range(30, 60)]


async def test_one_session_is_followed_alone(room: DeskRoom) -> None:
    await put_text(room.hub, "one", "s_1")
    await put_text(room.hub, "two", "s_2")

    assert texts(await first(room.ana, 0, 1, "s_2")) == ["two"]


async def test_items_are_read_in_pages(room: DeskRoom) -> None:
    for number in range(10):
        await put_text(room.hub, str(number), "s_1" if number % 2 else "s_2")

    page = await room.ana.items("s_1", limit=2)
    assert texts(page) == ["7", "9"]
    assert texts(await room.ana.items("s_1", before=page[0].cursor, limit=2)) == ["3", "5"]
    assert texts(await room.ana.items(after=0, limit=3)) == ["0", "1", "2"]


async def test_what_was_said_is_found_again(room: DeskRoom) -> None:
    for number in range(6):
        await put_text(room.hub, f"Zebra & co {number}", "s_1" if number % 2 else "s_2")

    page = await room.ana.search("co zebra", limit=2)
    assert [each.text for each in page.found] == ["Zebra & co 5", "Zebra & co 4"]
    assert (page.found[0].session, page.found[0].kind) == ("s_1", "text")
    rest = await room.ana.search("co zebra", before=page.next)
    assert ([each.text[-1] for each in rest.found], rest.next) == (["3", "2", "1", "0"], None)
    assert [each.text[-1] for each in (await room.ana.search("&", session="s_2")).found] == ["4", "2", "0"]
    assert (await room.ana.search("  ")).found == ()


async def test_a_search_is_narrowed_down_by_time_session_and_author(room: DeskRoom) -> None:
    now = datetime.now(UTC)
    store = room.hub.store
    phases: tuple[Phase, ...] = ("working", "ended", "ended")
    for number, directory in enumerate(("/shop", "/shop", "/pay")):
        session = Session(f"s_{number}", None, directory, f"c_{number}", "t", now, now, phases[number])
        await store.apply([SaveSession(session)])
    for days, number in product((9, 5, 1), range(3)):
        at = now - timedelta(days=days)
        message = Said("x", f"zebra {days}", 0, Person("bea" if number else "ana"), "web")
        contents = (message, Text(f"zebra text {days}", "m"))
        await store.apply([PublishItems(f"s_{number}", at, each) for each in contents])

    async def found(**only: Any) -> list[tuple[str | None, str]]:
        page = await room.ana.search("zebra", only=SearchFilter(**only))
        return [(each.session, each.text) for each in page.found]

    assert len(await found()) == 18
    assert {session for session, _ in await found(project="/shop")} == {"s_0", "s_1"}
    assert {session for session, _ in await found(state="running")} == {"s_0"}
    assert {session for session, _ in await found(state="ended", project="/pay")} == {"s_2"}
    assert await found(by="ana") == [("s_0", "zebra 1"), ("s_0", "zebra 5"), ("s_0", "zebra 9")]
    assert len(await found(by="people")) == len(await found(by="claude")) == 9
    assert await found(by="tools") == await found(by="nobody") == await found(project="/none") == []
    week = {"since": now - timedelta(days=7), "until": now - timedelta(days=3)}
    assert sorted(text for _, text in await found(**week)) == ["zebra 5"] * 3 + ["zebra text 5"] * 3
    assert await found(since=now) == await found(until=now - timedelta(days=20)) == []


async def test_a_place_that_is_gone_or_never_was_is_lost(room: DeskRoom) -> None:
    for number in range(5):
        await put_text(room.hub, str(number))
    await room.hub.store.apply([Prune(3)])

    for cursor in (1, 99):
        with pytest.raises(LostPlace) as error:
            await first(room.ana, cursor, 1)
        assert (error.value.oldest, error.value.newest) == (3, 5)
    assert texts(await first(room.ana, 3, 2)) == ["3", "4"]


async def test_partial_text_passes_by_who_follows_live(room: DeskRoom) -> None:
    async with asyncio.timeout(DEADLINE), room.ana.follow() as follower:
        waiting = asyncio.ensure_future(anext(follower))
        while not waiting.done():
            room.hub.feed.preview(Preview("s_1", "m_1", 0, "text", "Let me s"))
            await asyncio.wait({waiting}, timeout=0.01)

    assert waiting.result() == Preview("s_1", "m_1", 0, "text", "Let me s")


async def test_an_ended_session_refuses_with_the_next_step(room: DeskRoom) -> None:
    await put_session(room.hub, phase="ended", ended=Ended("lost", "a reboot", NOON))

    for call in (
        room.ana.say("s_1", "hello"),
        room.ana.interrupt("s_1"),
        room.ana.allow_denied("s_1", "toolu_1"),
        room.ana.stop("s_1"),
        room.ana.change_mode("s_1", "plan"),
        room.ana.change_model("s_1", "opus"),
    ):
        with pytest.raises(Refused, match="Resume it first"):
            await call


async def test_a_session_that_waits_can_be_stopped_and_renamed(room: DeskRoom) -> None:
    await put_session(room.hub, phase="queued")

    await room.ana.rename("s_1", "  Better\n title ")
    assert (await room.ana.session("s_1")).session.title == "Better title"
    with pytest.raises(Refused, match="not running yet"):
        await room.ana.interrupt("s_1")
    await room.ana.stop("s_1")

    stopped = (await room.ana.session("s_1")).session
    assert stopped.ended is not None
    assert (stopped.phase, stopped.ended.how, stopped.ended.reason) == ("ended", "stopped", "ana stopped it")
    contents = [item.read() for item in await room.ana.items("s_1")]
    assert [each.title for each in contents if isinstance(each, SessionChanged)][-1] == "Better title"
    assert any(isinstance(each, SessionEnded) for each in contents)
    await room.ana.rename("s_1", "Afterwards")
    assert (await room.ana.session("s_1")).session.title == "Afterwards"


async def test_a_title_cannot_be_empty(room: DeskRoom) -> None:
    await put_session(room.hub)

    with pytest.raises(Refused, match="can't be empty"):
        await room.ana.rename("s_1", " \n")


async def test_nothing_cannot_be_said(room: DeskRoom, tmp_path: Path) -> None:
    await put_session(room.hub)

    for empty in ("", "  \n"):
        with pytest.raises(Refused, match="message is empty"):
            await room.ana.say("s_1", empty)
        with pytest.raises(Refused, match="message is empty"):
            await room.ana.start(empty, str(tmp_path))
    assert len(await room.ana.sessions()) == 1


async def test_what_is_said_twice_with_one_id_is_said_once(room: DeskRoom) -> None:  # lesson 56
    await put_session(room.hub)

    say_id = "7c9b2a58-3b43-4c6e-9d0e-0a2f1b6a7d11"
    await room.ana.say("s_1", "hello", say_id)
    await room.ana.say("s_1", "hello", say_id)

    assert [say.id for say in await room.hub.store.says("s_1")] == [say_id]


async def test_a_session_that_cannot_be_started_says_why(room: DeskRoom, tmp_path: Path) -> None:
    started = (await room.ana.start("hello", str(tmp_path))).session

    async with asyncio.timeout(DEADLINE), room.ana.follow(0, started.id) as follower:
        async for _ in follower:
            ended = (await room.ana.session(started.id)).session.ended
            if ended is not None:
                break
    assert ended is not None
    assert ended.how == "failed"
    assert "no-claude" in ended.reason


async def test_rules_are_made_listed_and_revoked(room: DeskRoom, ben: Desk) -> None:
    made = await room.ana.add_rule(Rule("", "allow", tool="Bash", command="npm test"))
    assert (made.made_by, made.source) == ("ana", "person")

    assert await ben.rules() == [made]
    assert (await put_ask(room.hub, body=BASH)).state == "answered"
    await ben.revoke(made.id)
    assert await room.ana.rules() == []
    assert (await put_ask(room.hub, "a_2", BASH)).state == "open"
    with pytest.raises(NotFound):
        await room.ana.revoke(made.id)


async def test_a_permission_for_longer_shows_up_among_the_rules(room: DeskRoom, ben: Desk) -> None:
    await put_ask(room.hub, body=BASH)
    await room.ana.answer("a_1", Allow("session"))

    (rule,) = await ben.rules()
    assert (rule.session, rule.command, rule.made_by) == ("s_1", "npm test *", "ana")


async def test_a_denial_is_on_record_with_its_words(room: DeskRoom) -> None:
    await put_ask(room.hub, body=BASH)
    await room.ana.answer("a_1", Deny("Not now."))

    (entry,) = await room.ana.audit(ask="a_1")
    assert (entry.what, entry.by, entry.source) == ("answered", ANA, "web")


async def test_the_audit_is_read_from_either_end_and_by_time(room: DeskRoom) -> None:
    for number in range(1, 5):
        await put_ask(room.hub, f"a_{number}")
        await room.ana.answer(f"a_{number}", SQLITE)
    entries = await room.ana.audit(what="answered")

    assert [each.ask for each in await room.ana.audit(what="answered", newest_first=True, limit=2)] == ["a_4", "a_3"]
    before = await room.ana.audit(what="answered", newest_first=True, before=entries[2].number)
    assert [each.ask for each in before] == ["a_2", "a_1"]
    between = await room.ana.audit(what="answered", since=entries[1].at, until=entries[3].at)
    assert entries[1] in between
    assert entries[0].at == entries[1].at or entries[0] not in between
    assert entries[3] not in between


async def test_who_started_and_stopped_a_session_is_on_record(room: DeskRoom, ben: Desk, tmp_path: Path) -> None:
    await put_session(room.hub, "s_1", phase="queued")
    await ben.stop("s_1")
    started = (await room.ana.start("hello", str(tmp_path))).session

    assert [(each.what, each.by) for each in await room.ana.audit(session=started.id)] == [("session started", ANA)]
    (stopped,) = await room.ana.audit(session="s_1")
    assert (stopped.what, stopped.by, stopped.source) == ("session stopped", BEN, "telegram")


async def test_projects_are_added_changed_and_named_once(room: DeskRoom, ben: Desk, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "other").mkdir()
    made = await room.ana.add_project(str(tmp_path / "app"), None, Options(mode="plan"))

    assert (made.name, made.options.mode) == ("app", "plan")
    with pytest.raises(Refused):
        await room.ana.add_project(str(tmp_path / "other"), "app", Options())
    with pytest.raises(NotFound):
        await room.ana.add_project(str(tmp_path / "nowhere"), None, Options())
    changed = await ben.change_project("app", "shop", None)
    assert (changed.id, changed.name, changed.options.mode) == (made.id, "shop", "plan")
    assert await room.ana.projects() == [changed]
