"""What the bot remembers over a restart."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from handraise.surfaces.telegram.buttons import BoundButton
from handraise.surfaces.telegram.deliveries import CardCopy, Delivery
from handraise.surfaces.telegram.ledger import KEPT_FOR, Ledger, LedgerLost, StoredUpdate
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.session_side import SessionLink

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HERE, THERE = ChatPlace(1001), ChatPlace(-100200, 17)
BUTTON = BoundButton("a_1", "sha256:1", THERE, None, 2, "row", "deny")
CARD = Delivery("a_1", THERE, (11,), (CardCopy(12, "x", NOW),), '{"revision":2}')


def at(tmp: Path, now: datetime = NOW) -> Ledger:
    return Ledger(tmp / "telegram" / "telegram.db", lambda: now)


async def test_a_new_ledger_is_empty_and_its_owners_only(tmp_path: Path) -> None:
    async with at(tmp_path) as ledger:
        contents = await ledger.load()
        assert (contents.offset, contents.cursor, contents.deliveries, contents.unfinished) == (0, None, (), ())
    assert (tmp_path / "telegram" / "telegram.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "telegram").stat().st_mode & 0o777 == 0o700


async def test_updates_are_kept_until_they_are_finished(tmp_path: Path) -> None:  # lesson 56
    async with at(tmp_path) as ledger:
        await ledger.receive([(7, b"seven"), (8, b"eight"), (9, b"nine")], 10)
        await ledger.receive([(9, b"again")], 10)
        await ledger.begin(7)
        await ledger.begin(8)
        await ledger.finish(8)
    async with at(tmp_path) as ledger:
        contents = await ledger.load()
        assert contents.offset == 10
        assert contents.recent == {7, 8, 9}
        assert contents.unfinished == (StoredUpdate(7, b"seven", is_begun=True), StoredUpdate(9, b"nine"))


async def test_cards_and_buttons_are_found_again(tmp_path: Path) -> None:
    async with at(tmp_path) as ledger:
        await ledger.save_delivery(CARD, [("b1", BUTTON)])
        await ledger.save_delivery(replace(CARD, ask="a_2", is_closed=True))
    async with at(tmp_path) as ledger:
        assert (await ledger.load()).deliveries == (CARD,)
        assert await ledger.delivery("a_1", THERE) == CARD
        assert await ledger.delivery("a_1", HERE) is None
        assert await ledger.deliveries_of("a_1") == [CARD]
        assert await ledger.button("b1") == BUTTON
        assert await ledger.button("b2") is None
        assert await ledger.same_buttons([BUTTON, replace(BUTTON, argument="allow")]) == ["b1", None]
        assert await ledger.card_at(THERE.chat, 11) == ("a_1", THERE)
        assert await ledger.card_at(THERE.chat, 12) == ("a_1", THERE)
        assert await ledger.card_at(HERE.chat, 12) is None
        await ledger.drop_delivery("a_1", THERE)
        assert (await ledger.load()).deliveries == ()


async def test_people_and_places_are_remembered(tmp_path: Path) -> None:
    link = SessionLink("s_1", THERE, 5, 17, mute=True, started_by=1001, detail="{}")
    async with at(tmp_path) as ledger:
        await ledger.save_private_chat(1001, 1001)
        await ledger.save_cursor(17)
        await ledger.save_link(link)
        await ledger.save_link(replace(link, cursor=18))
        await ledger.save_link(replace(link, session="s_2"))
        await ledger.drop_link("s_2", THERE)
    async with at(tmp_path) as ledger:
        contents = await ledger.load()
        assert (contents.private, contents.cursor) == ({1001: 1001}, 17)
        assert await ledger.links() == [replace(link, cursor=18)]


async def test_what_is_shown_in_a_chat_follows_it_to_its_new_number(tmp_path: Path) -> None:
    old, new = ChatPlace(-5), ChatPlace(-1005)
    async with at(tmp_path) as ledger:
        await ledger.save_link(SessionLink("s_1", old, 5))
        await ledger.save_move(old, new)
        assert [(each.place, each.progress) for each in await ledger.links()] == [(new, None)]
        assert (await ledger.load()).moved == {old: new}


async def test_what_is_old_and_closed_is_forgotten_and_nothing_else(tmp_path: Path) -> None:
    async with at(tmp_path) as ledger:
        await ledger.save_delivery(CARD, [("b1", BUTTON)])
        closed = replace(CARD, ask="a_2", is_closed=True)
        await ledger.save_delivery(closed, [("b2", replace(BUTTON, ask="a_2"))])
        await ledger.receive([(7, b"seven")], 8)
    async with at(tmp_path, NOW + KEPT_FOR + timedelta(days=1)) as ledger:
        await ledger.prune()
        assert await ledger.button("b1") == BUTTON
        assert await ledger.button("b2") is None
        assert await ledger.deliveries_of("a_2") == []
        assert len((await ledger.load()).unfinished) == 1


async def test_a_file_that_is_no_database_is_lost(tmp_path: Path) -> None:
    (tmp_path / "telegram").mkdir()
    (tmp_path / "telegram" / "telegram.db").write_bytes(b"x" * 5000)
    with pytest.raises(LedgerLost):
        await at(tmp_path).__aenter__()


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    async with at(tmp_path):
        pass
    connection = apsw.Connection(str(tmp_path / "telegram" / "telegram.db"))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LedgerLost, match="newer"):
        await at(tmp_path).__aenter__()


async def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "telegram").write_text("a file")
    with pytest.raises(LedgerLost, match="can't be opened"):
        await at(tmp_path).__aenter__()
