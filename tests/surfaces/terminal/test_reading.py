"""Reading long evidence: the keys of a pager, and a search."""

from pathlib import Path

from handraise.model.asks import Permission
from handraise.surfaces.terminal import cards
from handraise.surfaces.terminal.cards import CardFrame
from handraise.surfaces.terminal.dialogue import Dialogue
from handraise.surfaces.terminal.lines import text_of
from surfaces.terminal.asked import NOON, dialogue
from surfaces.terminal.pseudo import CTRL_U, ENTER, ESCAPE, TAB
from surfaces.terminal.table import table

SIZE = (80, 24)
LONG = Permission(
    "Bash", {"command": "\n".join(f"echo {each} {'NEEDLE' if each % 40 == 7 else ''}" for each in range(200))}
)


def reading(*keys: str) -> Dialogue:
    shown = cards.read(dialogue(LONG), "open", *SIZE)
    for key in keys:
        shown = (cards.seek if shown.seeking is not None else cards.read)(shown, key, *SIZE)
    return shown


def foot(shown: Dialogue) -> str:
    return text_of(cards.card(shown, CardFrame(*SIZE, NOON))[-1])


def test_the_keys_of_a_pager() -> None:
    last = reading("G").reading
    assert last is not None
    assert last > 150
    assert reading("j", "j", "k").reading == 1
    assert reading("G", "g").reading == 0
    assert reading("f", "b").reading == 0
    assert reading("space").reading == reading("f").reading == 23
    assert reading("d").reading == 11
    assert reading("q").reading is None
    assert reading("v").reading is None


def test_a_search_finds_shows_and_counts_its_matches_in_any_case_and_goes_around() -> None:
    typing = reading("/", "n", "e", "e")
    assert "/nee" in foot(typing)
    found = reading("/", *"needle", "enter")
    assert "/needle: match 1 of 5" in foot(found)
    rows = cards.card(found, CardFrame(*SIZE, NOON))
    assert "echo 7 NEEDLE" in text_of(rows[0])
    assert all("class:found" in style for style, _ in rows[0][1:])
    assert "match 2 of 5" in foot(reading("/", *"needle", "enter", "n"))
    assert "match 5 of 5" in foot(reading("/", *"needle", "enter", "N"))
    assert "match 1 of 5" in foot(reading("/", *"needle", "enter", *"nnnnn"))
    assert "/none such: not found" in foot(reading("/", *"none", "space", *"such", "enter"))


def test_a_search_is_left_and_corrected() -> None:
    assert reading("/", "x", "back").seeking == ""
    assert reading("/", "back").seeking is None
    assert reading("/", "x", "escape").seeking is None
    assert reading("/", "x", "escape").reading == 0


async def test_long_evidence_is_read_and_searched_and_what_was_skipped_by_it_does_not_count_as_read(
    tmp_path: Path,
) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", rows=24) as terminal:
        ask = await laid.ask(LONG)
        await terminal.until("lines not shown", "Esc to postpone")
        terminal.type("v")
        await terminal.until("1-", "/ to search")
        terminal.type("/")
        await terminal.until("Enter to search")
        for letter in "echo 167":
            terminal.type(letter)
        await terminal.until("/echo 167")
        terminal.type(ENTER)
        await terminal.until("match 1 of 1", "echo 167 NEEDLE")
        terminal.type("G")
        await terminal.until("echo 199")
        terminal.type(ESCAPE)
        await terminal.until("1 Allow once", "Esc to postpone")
        # The end was shown, but not all of it: Enter says so and allows nothing.
        terminal.type("a")
        await terminal.until("Enter: Allow once")
        terminal.type(ENTER)
        await terminal.until("were not shown. v to read them")
        assert (await laid.hub.desk.ask(ask.id)).state == "open"


async def test_the_keys_are_listed_from_a_card_and_from_the_line(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1", environment={"NO_COLOR": "1"}) as terminal:
            await terminal.until("Alt-Enter for a new line", "? for the keys")
            terminal.type("?")
            await terminal.until("On a request", "Alt-Enter", "leave; the session keeps running")
            # Inside a text it is a letter.
            terminal.type("why", "?")
            await terminal.until("› why?")
            terminal.type(CTRL_U)
            await terminal.until("? for the keys", gone="› why?")
            ask = await laid.ask(LONG, session="s_1")
            await terminal.until("Esc to postpone")
            terminal.type("?")
            await terminal.wait(lambda: terminal.everything.count("On a request") == 2, "the keys again")
            await terminal.until("Esc to postpone")
            assert (await laid.hub.desk.ask(ask.id)).state == "open"
            # NO_COLOR takes away the color, and nothing else.
            assert b"\x1b[?2026h" in terminal.raw
            colors = [code for code in range(30, 50) if f"\x1b[{code}m".encode() in terminal.raw]
            assert colors == []
            assert b";3" not in terminal.raw
            terminal.type(ESCAPE, TAB)


async def test_long_evidence_that_was_read_to_its_end_is_allowed(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox", rows=24) as terminal:
        ask = await laid.ask(LONG)
        await terminal.until("lines not shown", "Esc to postpone")
        terminal.type("v")
        await terminal.until("1-", "/ to search")
        for first in range(23, 202, 22):
            terminal.type(" ")
            await terminal.until(f"{min(first, 181)}-")
        terminal.type(ESCAPE)
        await terminal.until("1 Allow once", "Esc to postpone")
        await terminal.confirm("a")
        await terminal.until("You allowed")
        assert (await laid.hub.desk.ask(ask.id)).state == "answered"
