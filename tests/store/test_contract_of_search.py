"""What every store must do with a search: find what contains every word, and nothing else."""

from collections.abc import Sequence

import pytest

from handraise.model.actors import Person
from handraise.model.asks import Permission, Plan
from handraise.model.items import ActionEnded, ActionStarted, Content, Notice, SessionChanged, Text, Thinking
from handraise.model.search import SearchHit, read_query
from handraise.model.sessions import Say
from handraise.store.changes import OpenAsk, Prune, PublishItems, QueueSay
from handraise.store.interface import Store
from store.examples import NOON, a_text, an_ask

EVERYTHING = 2**60


async def found(store: Store, text: str, session: str | None = None, **bounds: int) -> Sequence[SearchHit]:
    where = {"after": 0, "before": EVERYTHING, **bounds}
    return await store.search(read_query(text), session=session, **where)


async def publish(store: Store, *contents: Content, session: str = "s_1") -> None:
    await store.apply([PublishItems(session, NOON, each) for each in contents])


async def test_every_word_has_to_be_there_in_any_case_and_order(store: Store) -> None:
    await store.apply([a_text("The Limiter counts right", "s_1"), a_text("a limiter", "s_2"), a_text("right", "s_1")])

    assert [each.cursor for each in await found(store, "limiter")] == [2, 1]
    assert [each.cursor for each in await found(store, "RIGHT limit")] == [1]
    assert [each.cursor for each in await found(store, "limiter", "s_2")] == [2]
    assert await found(store, "limiters") == []
    assert await found(store, "") == []


async def test_what_people_and_claude_say_and_do_is_found(store: Store) -> None:
    await store.apply([QueueSay(Say("y_1", "s_1", "find zebra", Person("ana"), "web", NOON))])
    await publish(
        store,
        Text("a zebra", "m"),
        Thinking("zebra?", "m"),
        ActionStarted("t_1", "command", "ls", "Bash", {"command": "ls", "deep": [{"x": "zebra.txt"}]}),
        ActionEnded("t_1", "command", "ls", True, "out\nzebra\n"),
        ActionStarted("t_2", "note", "Show the plan", "ExitPlanMode", {"plan": "zebra"}),
        Notice("info", "zebra!", "x"),
        SessionChanged("idle", "default", None, "zebra", 0.0),
    )
    await store.apply([OpenAsk(an_ask("a_1", body=Plan("# zebra")))])

    kinds = [each.kind for each in await found(store, "zebra")]
    assert kinds == ["request", "notice", "output", "action", "thinking", "text", "said"]


async def test_a_request_about_an_action_is_not_found_twice(store: Store) -> None:
    await store.apply([OpenAsk(an_ask("a_1", body=Permission("Bash", {"command": "zebra"})))])

    assert len(await found(store, "zebra")) == 1


async def test_the_words_of_the_format_are_not_found(store: Store) -> None:
    await publish(store, Text("hello", "m_17"), ActionStarted("t_1", "command", "ls", "Bash", {"command": "ls"}))

    for word in ("type", "text", "message", "m_17", "cursor", "command", "null", '"', "{"):
        assert await found(store, word) == []


@pytest.mark.parametrize(
    "text",
    [
        "100%",
        "a_b",
        "back\\slash",
        'quo"te',
        "it's",
        "tab\there",
        "ÄÖÜ straße",
        "日本語",
        "emoji 🎉",
        "a'; DROP TABLE items; --",
        "x*y?[z]",
    ],
)
async def test_signs_mean_themselves(store: Store, text: str) -> None:
    await store.apply([a_text(f"before {text} after", "s_1"), a_text("before 100x aXb backslash quote after", "s_1")])

    assert [each.cursor for each in await found(store, text)] == [1]
    assert [each.cursor for each in await found(store, text.upper())] == [1] or "ß" in text


@pytest.mark.parametrize("text", ["%", "_", "\\", "%%", "*", "'", ";", "\0", "\ud800", "(", "%' OR 1=1"])
async def test_a_query_of_signs_finds_only_them(store: Store, text: str) -> None:
    await store.apply([a_text("plain words", "s_1")])

    assert await found(store, text) == []


async def test_long_texts_are_searched_to_their_end(store: Store) -> None:
    await publish(store, ActionEnded("t_1", "command", "x", True, "word " * 12_000 + "zebra"), Text("w" * 30_000, "m"))

    [one] = await found(store, "zebra")
    assert one.text.endswith("word zebra")
    assert one.text.startswith("…")


async def test_what_is_found_comes_in_pages(store: Store) -> None:
    await store.apply([a_text(f"zebra {number}", "s_1") for number in range(1, 8)])

    assert [each.cursor for each in await found(store, "zebra", limit=3)] == [7, 6, 5]
    assert [each.cursor for each in await found(store, "zebra", before=5, after=2)] == [4, 3]


async def test_many_candidates_that_are_none_hide_nothing(store: Store) -> None:
    await publish(store, Text("zebra", "m"), *(Text("x", "zebra") for _ in range(1_200)))

    assert [each.cursor for each in await found(store, "zebra")] == [1]


async def test_what_was_pruned_is_not_found(store: Store) -> None:
    await store.apply([a_text("zebra", "s_1"), a_text("zebra", "s_1")])
    await store.apply([Prune(1)])

    assert [each.cursor for each in await found(store, "zebra")] == [2]


async def test_what_is_shown_has_no_markdown_in_it(store: Store) -> None:
    await store.apply([a_text("# A **zebra** in `a*b*c`\n- second", "s_1"), a_text("**", "s_1")])

    assert [each.text for each in await found(store, "zebra")] == ["A zebra in a*b*c second"]
    assert [each.text for each in await found(store, "**")] == ["**", "# A **zebra** in `a*b*c` - second"]


async def test_hidden_characters_are_marked_in_what_is_shown(store: Store) -> None:
    await store.apply([a_text("a zebra \u202e here", "s_1")])

    [one] = await found(store, "zebra")
    assert one.text == "a zebra ⟨U+202E⟩ here"
