"""Who reads and steers which session: a group sees what the settings send there, and who was removed sees nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from desk.hubs import put_session
from handraise.surfaces.telegram.incoming import IncomingPress
from handraise.surfaces.telegram.outgoing import ChatPlace
from surfaces.telegram.session_bed import ANA, BO, SHOP, SessionBed, session_bed

ELSEWHERE = "This chat is for other projects. Use another chat, or the private chat with the bot."
BOS = ChatPlace(BO.number)


@pytest.fixture
async def bed(tmp_path: Path) -> AsyncIterator[SessionBed]:
    """Two projects: shop has a group of its own, blog hasn't."""
    async with session_bed(tmp_path, chats=()) as made:
        shop, blog = await made.project("shop"), await made.project("blog")
        await put_session(made.hub, "s_shop", project=shop)
        await put_session(made.hub, "s_blog", project=blog)
        yield made


async def test_a_projects_group_lists_no_other_sessions(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/sessions", place=SHOP)
        listed = await bed.outbox.message("1. Fix it")
        assert "shop" in listed.content.text
        assert "blog" not in listed.content.text
        await bed.write("/sessions")
        assert "blog" in (await bed.outbox.message("2. Fix it")).content.text
        await bed.end("s_blog")
        await bed.write("/resume", place=SHOP)
        await bed.outbox.message("No session has ended.")


async def test_a_projects_group_starts_no_other_sessions(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new blog Fix it", place=SHOP)
        assert bed.acts == []
        assert bed.outbox.texts == [ELSEWHERE]
        await bed.write("/new blog Fix it")
        assert bed.last()[:3] == ("ana", "start", "Fix it")


@pytest.mark.parametrize(
    ("act", "argument"),
    [
        ("session.pick", "s_blog"),
        ("session.interrupt", "s_blog"),
        ("session.ask_stop", "s_blog"),
        ("session.stop", "s_blog"),
        ("session.keep", "s_blog"),
        ("session.resume", "s_blog"),
        ("session.mode", "acceptEdits s_blog"),
    ],
)
async def test_a_button_from_before_the_settings_changed_does_nothing(bed: SessionBed, act: str, argument: str) -> None:
    async with bed.running():
        assert await bed.side.press(ANA, IncomingPress(1, SHOP, 77, act, argument)) == ELSEWHERE
        assert bed.acts == []
        assert bed.outbox.sent == []


async def test_who_was_removed_reads_no_more_answers(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/sessions", BO, BOS)
        await bed.press("1. Fix it", BO)
        await bed.outbox.until(lambda: len(bed.ledger.rows) == 1)
    bed.config = replace(bed.config, members=(ANA,))
    bed.outbox.sent.clear()
    async with bed.running():
        assert bed.ledger.rows == {}
        await bed.turn("s_shop", "The secret.")
        await bed.turn("s_blog", "The secret.")
    assert bed.outbox.sent == []


async def test_a_group_that_was_removed_reads_no_more_answers(bed: SessionBed) -> None:
    async with bed.running():
        await bed.write("/new fix it", place=SHOP)
        await bed.outbox.until(lambda: len(bed.ledger.rows) == 1)
    bed.config = replace(bed.config, routes={"shop": ChatPlace(-100999)})
    bed.outbox.sent.clear()
    async with bed.running():
        await bed.turn("s_1", "The secret.")
    assert bed.outbox.sent == []
