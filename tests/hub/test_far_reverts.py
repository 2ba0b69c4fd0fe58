"""A file of a session on another machine is reverted once or not at all, whichever hub is killed in between."""

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from handraise.hub.hub import now
from handraise.model.actors import Person
from handraise.model.items import Notice
from handraise.model.sessions import Session
from handraise.session.machine import WishRefused
from handraise.session.remote import Dispatcher
from handraise.store.changes import Change, SaveSession, SettleInstruction, TakeInstruction
from handraise.store.interface import StoreAway
from hub.fleet import DEADLINE, MachineSite, fleet_of, until

ANA = Person("ana")


async def begin(site: MachineSite) -> tuple[Session, Path, str]:
    """A session that changed a file, and the value of an instruction to revert it."""
    top = site.work
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    (top / "a.py").write_text("one\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=top, check=True, capture_output=True, timeout=60)
    (top / "a.py").write_text("two\n")
    session = Session("s_1", None, str(top), "c", "Title", now(), now(), "ended", machine=site.machine)
    await site.hub.store.apply([SaveSession(session)])
    shown = await site.hub.reviewer.file(session, "a.py")
    assert shown is not None
    return session, top / "a.py", f"{shown.digest} a.py"


async def killed(site: MachineSite) -> None:
    async with asyncio.timeout(DEADLINE):
        while not site.store.is_killed:
            await asyncio.sleep(0)
    await site.kill()


async def notices(site: MachineSite) -> list[str]:
    contents = [item.read() for item in await site.hub.desk.items("s_1")]
    return [each.text for each in contents if isinstance(each, Notice)]


async def test_a_hub_that_was_killed_after_it_reverted_a_file_does_not_do_it_again(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session, file, value = await begin(laptop)

        async def die(changes: Sequence[Change]) -> None:
            if any(isinstance(each, SettleInstruction) for each in changes):
                laptop.store.is_killed = True

        laptop.store.before = die
        reverting = asyncio.create_task(server.hub.dispatcher.give(session, "revert", ANA, "web", value))
        await killed(laptop)
        assert file.read_text() == "one\n"
        file.write_text("two\n")  # Claude has done the same again: exactly what was shown

        await laptop.open()

        with pytest.raises(WishRefused, match="It isn't known whether this was done"):
            await reverting
        assert file.read_text() == "two\n"
        assert await notices(server) == []


async def test_a_hub_that_was_killed_after_it_removed_a_session_has_removed_it(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session, _, _ = await begin(laptop)

        async def die(changes: Sequence[Change]) -> None:
            if any(isinstance(each, SettleInstruction) for each in changes):
                laptop.store.is_killed = True

        async def wait_until_gone(changes: Sequence[Change]) -> None:
            if any(isinstance(each, SettleInstruction) for each in changes):
                async with asyncio.timeout(DEADLINE):
                    while await server.store.session("s_1") is not None:
                        await asyncio.sleep(0)

        laptop.store.before, server.store.before = die, wait_until_gone
        async with Dispatcher(server.store, now, bytes, patience=0.01) as hurried:
            removing = asyncio.create_task(hurried.give(session, "remove", ANA, "web"))
            await killed(laptop)
            assert await removing == ""
        assert await server.store.session("s_1") is None
        await laptop.open()
        assert await server.store.instructions() == []


async def test_a_hub_that_was_killed_before_it_reverted_a_file_leaves_it(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session, file, value = await begin(laptop)

        async def die(changes: Sequence[Change]) -> None:
            if any(isinstance(each, TakeInstruction) for each in changes):
                laptop.store.is_killed = True

        laptop.store.before = die
        reverting = asyncio.create_task(server.hub.dispatcher.give(session, "revert", ANA, "web", value))
        await killed(laptop)
        await laptop.open()

        with pytest.raises(WishRefused, match="The machine was away or restarting"):
            await reverting
        assert file.read_text() == "two\n"


async def test_a_database_that_goes_away_meanwhile_makes_it_neither_twice_nor_unrecorded(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session, file, value = await begin(laptop)
        failures = 0

        async def fail(changes: Sequence[Change]) -> None:
            nonlocal failures
            if any(isinstance(each, SettleInstruction) for each in changes) and failures < 2:
                failures += 1
                if failures == 1:
                    file.write_text("two\n")  # as it was shown, again
                raise StoreAway("The database can't be reached.")

        laptop.store.before = fail
        await server.hub.dispatcher.give(session, "revert", ANA, "web", value)

        assert failures == 2
        assert file.read_text() == "two\n"
        assert await notices(server) == ["ana reverted a.py."]
        [entry] = await server.hub.store.audit(what="file reverted")
        assert (entry.by, entry.session) == (ANA, "s_1")


async def test_who_waits_no_longer_hears_that_it_was_begun(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        session, file, value = await begin(laptop)
        heard = asyncio.Event()

        async def hang(changes: Sequence[Change]) -> None:
            if any(isinstance(each, SettleInstruction) for each in changes):
                await heard.wait()

        async def wait_until_taken(changes: Sequence[Change]) -> None:
            if any(isinstance(each, SettleInstruction) for each in changes):
                async with asyncio.timeout(DEADLINE):
                    while [each.state for each in await server.store.instructions()] != ["taken"]:
                        await asyncio.sleep(0)

        laptop.store.before, server.store.before = hang, wait_until_taken
        async with Dispatcher(server.store, now, bytes, patience=0.01) as hurried:
            with pytest.raises(WishRefused, match="hasn't said whether it was done"):
                await hurried.give(session, "revert", ANA, "web", value)
        heard.set()

        async def is_settled() -> bool:
            return await server.store.instructions() == []

        await until(server.hub, is_settled)
        assert file.read_text() == "one\n"
        assert await notices(server) == ["ana reverted a.py."]
