"""The device log in a shared database: both hubs' changes count, a removal counts most."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.hub.shared import StoreRecords
from handraise.model.devices import NOTICE_KINDS, Device
from handraise.store.changes import SaveRecord
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from handraise.surfaces.push.device_log import DeviceLog, DeviceState, Ending, KeyLost, write
from handraise.surfaces.push.shared_log import KIND, SharedDeviceLog, merge
from handraise.surfaces.push.vapid import make_key

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2030, 1, 1, 13, tzinfo=UTC)
NOWHERE = Path("/nowhere")


def a_device(name: str = "d_1") -> Device:
    return Device(name, "ana", "t_1", "Phone", NOTICE_KINDS, f"https://push.example/{name}", "key", "secret", NOON)


def an_ending(session: str) -> Ending:
    return Ending(session, "failed", "why", NOON)


def a_book(store: MemoryStore, before: Path = NOWHERE) -> SharedDeviceLog:
    return SharedDeviceLog(StoreRecords(store), before)


async def test_what_one_hub_changes_the_other_has_after_it_refreshed() -> None:
    async with MemoryStore("m", MemoryDatabase()) as store, a_book(store) as one, a_book(store) as two:
        one.ledger.pages["d_1"] = DeviceState(a_device())
        one.ledger.cursor = 7
        await one.save()
        await two.refresh()
        two.ledger.pages["d_1"].shown["a_1"] = NOON
        two.ledger.pages["d_1"].device = replace(two.ledger.pages["d_1"].device, trouble="busy")
        await two.save()
        one.ledger.pages["d_1"].put_away["a_2"] = NOON
        await one.save()
        await two.refresh()

        assert two.ledger == one.ledger
        assert one.ledger.cursor == 7
        assert one.ledger.pages["d_1"].shown == {"a_1": NOON}
        assert one.ledger.pages["d_1"].put_away == {"a_2": NOON}
        assert one.ledger.pages["d_1"].device.trouble == "busy"


async def test_a_device_that_was_removed_stays_removed_whatever_the_other_hub_sent_meanwhile() -> None:
    async with MemoryStore("m", MemoryDatabase()) as store, a_book(store) as one, a_book(store) as two:
        one.ledger.pages["d_1"] = DeviceState(a_device())
        await one.save()
        await two.refresh()
        del two.ledger.pages["d_1"]
        one.ledger.pages["d_1"].shown["a_1"] = NOON
        await asyncio.gather(two.save(), one.save())
        await two.refresh()
        await one.refresh()

        assert one.ledger.pages == two.ledger.pages == {}
        assert await store.records(KIND) == {}


async def test_many_changes_at_the_same_moment_are_all_there_in_the_end() -> None:
    async with MemoryStore("m", MemoryDatabase()) as store, a_book(store) as one, a_book(store) as two:
        one.ledger.pages["d_1"] = DeviceState(a_device())
        await one.save()
        await two.refresh()
        for number in range(50):
            one.ledger.pages["d_1"].shown[f"a_{number}"] = NOON
            two.ledger.pages["d_1"].put_away[f"a_{number}"] = NOON
            await asyncio.gather(one.save(), two.save())
        await one.refresh()
        await two.refresh()

        assert one.ledger == two.ledger
        assert len(one.ledger.pages["d_1"].shown) == len(one.ledger.pages["d_1"].put_away) == 50


async def test_a_refresh_without_news_writes_nothing() -> None:
    async with MemoryStore("m", MemoryDatabase()) as store, a_book(store) as book:
        book.ledger.pages["d_1"] = DeviceState(a_device())
        await book.save()
        before = dict(await store.records(KIND))
        # As a newer version would write it.
        odd = before["d_1"].replace(b"{", b'{"later_field": 1, ', 1)
        await store.apply([SaveRecord(KIND, "d_1", odd, before["d_1"])])
        await book.refresh()

        assert (await store.records(KIND))["d_1"] == odd


@pytest.mark.parametrize("hostile", [b"", b"[]", b'{"device": 1}', b"\xff\0"])
async def test_a_record_that_cannot_be_read_is_left_alone(hostile: bytes) -> None:
    async with MemoryStore("m", MemoryDatabase()) as store:
        await store.apply([SaveRecord(KIND, "d_odd", hostile, None), SaveRecord(KIND, "cursor", hostile, None)])
        async with a_book(store) as book:
            book.ledger.pages["d_1"] = DeviceState(a_device())
            await book.save()

        assert list(book.ledger.pages) == ["d_1"]
        assert (await store.records(KIND))["d_odd"] == hostile


async def test_all_hubs_have_the_same_key_and_say_if_it_is_unusable() -> None:
    async with MemoryStore("m", MemoryDatabase()) as store, a_book(store) as one, a_book(store) as two:
        first, second = await asyncio.gather(one.key(), two.key())
        assert first.public == second.public
        stored = await store.record(KIND, "key")
        await store.apply([SaveRecord(KIND, "key", b"nonsense", stored)])
        with pytest.raises(KeyLost):
            await one.key()


async def test_the_first_hub_brings_its_key_and_devices_along_and_later_ones_do_not(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    keys = [make_key(), make_key()]
    for number, (folder, key) in enumerate(zip(folders, keys, strict=True)):
        log = DeviceLog({f"d_{number}": DeviceState(a_device(f"d_{number}"))}, 5)
        write(folder / "devices.json", msgspec.json.encode(log))
        write(folder / "key.pem", key)
    async with MemoryStore("m", MemoryDatabase()) as store:
        async with a_book(store, folders[0]) as one, a_book(store, folders[1]) as two:
            assert list(one.ledger.pages) == list(two.ledger.pages) == ["d_0"]
            assert two.ledger.cursor == 5
        assert await store.record(KIND, "key") == keys[0]


asks = st.dictionaries(st.sampled_from(["a_1", "a_2", "a_3"]), st.sampled_from([NOON, LATER]))
endings = st.lists(st.sampled_from([an_ending("s_1"), an_ending("s_2"), an_ending("s_3")]), unique_by=repr)
states = st.builds(
    lambda trouble, shown, doubtful, ended, away: DeviceState(
        replace(a_device(), trouble=trouble), shown, doubtful, ended, away
    ),
    st.sampled_from([None, "busy"]),
    asks,
    asks,
    endings,
    asks,
)


@given(states, states)
def test_a_change_on_one_side_only_is_the_outcome(before: DeviceState, after: DeviceState) -> None:
    here, there = _copy(after), _copy(before)
    merge(before, here, before)
    merge(before, there, after)

    assert here.device == there.device == after.device
    assert (here.shown, here.doubtful, here.put_away) == (after.shown, after.doubtful, after.put_away)
    assert (there.shown, there.doubtful, there.put_away) == (after.shown, after.doubtful, after.put_away)
    assert {each.session for each in here.endings} == {each.session for each in after.endings}
    assert there.endings == after.endings


def _copy(state: DeviceState) -> DeviceState:
    return msgspec.json.decode(msgspec.json.encode(state), type=DeviceState)
