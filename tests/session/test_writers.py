"""A store that can't save anything delays Claude, but not those who want to stop it."""

import asyncio

import pytest

from handraise.model.items import SessionChanged, SessionEnded, Text
from handraise.session.commands import Stop
from handraise.session.writers import NotStored
from session.claude_says import HELLO, init, text
from session.stand_in import DEADLINE, stage
from session.test_runner import FullAtFirst

FOR_LONG = 10**6


async def test_a_stop_ends_claude_though_the_store_is_full_and_says_what_is_wrong() -> None:
    async with FullAtFirst() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.until(SessionChanged)
        store.refuse = FOR_LONG

        async with asyncio.timeout(DEADLINE):
            with pytest.raises(NotStored, match="being stopped, but this can't be saved yet: The disk is full"):
                await here.runner.wish(Stop("ana stopped it"))
            await here.claude.ended.wait()
        assert len(here.claude.farewells) == 1
        store.refuse = 0

        ended = await here.until(SessionEnded)
        assert (ended.how, ended.reason) == ("stopped", "ana stopped it")


async def test_a_stop_that_comes_while_something_else_cannot_be_kept_is_not_held_up_by_it() -> None:
    async with FullAtFirst() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.until(SessionChanged)
        store.refuse = FOR_LONG
        await here.claude.say(text("Let me see."))
        await store.refused.wait()

        async with asyncio.timeout(DEADLINE):
            outcomes = await asyncio.gather(
                here.runner.wish(Stop("ana stopped it")), here.runner.wish(Stop("ben too")), return_exceptions=True
            )
        assert [type(each) for each in outcomes] == [NotStored, NotStored]
        assert len(here.claude.farewells) == 1
        store.refuse = 0

        assert (await here.until(Text)).text == "Let me see."
        assert (await here.until(SessionEnded)).how == "stopped"


async def test_a_stop_that_was_granted_is_not_taken_back_when_the_store_fills_up_later() -> None:
    async with FullAtFirst() as store, stage(store) as here:
        await here.claude.say(HELLO, init())
        await here.until(SessionChanged)

        await here.runner.wish(Stop("ana stopped it"))
        store.refuse = 2

        assert (await here.until(SessionEnded)).reason == "ana stopped it"
