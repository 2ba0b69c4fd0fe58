"""A hub's state is its own: private folders, and one hub for each of them."""

import os
import shutil
from pathlib import Path

import pytest

from desk.hubs import put_session, quiet_hub
from handraise.hub.hub import HubConfig, HubRunning, StateExposed, StateUnreachable, hub, locked
from hub.fleet import fleet_of, until_turns


async def test_the_database_can_lie_somewhere_else_and_what_is_in_it_is_found_again(tmp_path: Path) -> None:
    elsewhere = tmp_path / "a" / "b" / "kept.db"
    async with quiet_hub(tmp_path, database=elsewhere) as opened:
        await put_session(opened, phase="ended")
    async with quiet_hub(tmp_path, database=elsewhere) as opened:
        assert [each.session.id for each in await opened.desk.sessions()] == ["s_1"]
    assert elsewhere.stat().st_mode & 0o777 == 0o600
    assert elsewhere.parent.stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "state" / "hub.db").exists()


async def test_a_database_from_another_folder_brings_its_machine_along(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path / "first") as opened:
        machine = opened.store.machine
        await put_session(opened, phase="ended")
    restored = tmp_path / "second" / "state" / "hub.db"
    restored.parent.mkdir(mode=0o700, parents=True)
    shutil.copy(tmp_path / "first" / "state" / "hub.db", restored)

    for _ in range(2):
        async with quiet_hub(tmp_path / "second") as opened:
            assert opened.store.machine == machine
            assert [opened.pool.owns(each.session) for each in await opened.desk.sessions()] == [True]


async def test_two_hubs_never_share_a_database(tmp_path: Path) -> None:
    elsewhere = tmp_path / "kept" / "hub.db"
    async with quiet_hub(tmp_path, database=elsewhere) as opened:
        await put_session(opened, phase="ended")
        with pytest.raises(HubRunning, match=rf"already running on {elsewhere} \(process {os.getpid()}\)"):
            async with hub(HubConfig(tmp_path / "other", Path("/bin/false"), {}, database=elsewhere)):
                pass
        assert len(await opened.desk.sessions()) == 1
    async with hub(HubConfig(tmp_path / "other", Path("/bin/false"), {}, database=elsewhere)) as after:
        assert len(await after.desk.sessions()) == 1


async def test_the_folder_of_the_database_must_be_as_private_as_the_state(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o750)
    with pytest.raises(StateExposed, match=f"chmod 700 {tmp_path / 'open'}"):
        async with quiet_hub(tmp_path, database=tmp_path / "open" / "hub.db"):
            pass
    assert not (tmp_path / "open" / "hub.db").exists()


async def test_a_folder_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for state, database in (
        (tmp_path / "file", None),
        (tmp_path / "file" / "state", None),
        (tmp_path / "state", tmp_path / "file" / "hub.db"),
    ):
        with pytest.raises(StateUnreachable, match=r"Can't use .*\. Choose another directory\."):
            async with hub(HubConfig(state, Path("/bin/false"), {}, database=database)):
                pass


async def test_a_hub_that_ends_finishes_stopping_what_it_was_told_to_stop(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop") as (laptop,):
        stopped = (await laptop.hub.desk.start("Be slow.", str(laptop.work))).session.id
        running = (await laptop.hub.desk.start("Go on.", str(laptop.work))).session.id
        for each in (stopped, running):
            await until_turns(laptop.hub, each)
        await laptop.hub.desk.stop(stopped)
        await laptop.stop()

        after = await laptop.open()
        assert after.pool.adoption.living == (running,)
        assert (await after.desk.session(stopped)).session.phase == "ended"


def test_a_child_that_has_a_copy_of_the_lock_does_not_keep_it(tmp_path: Path) -> None:
    """As one that was forked and hasn't executed its program yet: the next hub may start."""
    file = tmp_path / "hub.lock"
    with locked(file, tmp_path):
        (held,) = [int(each.name) for each in Path("/proc/self/fd").iterdir() if each.resolve() == file.resolve()]
        copy = os.dup(held)
    try:
        with locked(file, tmp_path):
            pass
    finally:
        os.close(copy)
