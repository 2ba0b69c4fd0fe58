"""A hub that can't work as usual says so to everyone who is connected, and when it can again."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from api.served import PLAIN, error_of
from handraise.api.stream import Streams
from handraise.doctor.checks import check_hub, trouble_of_hub
from handraise.model.actors import Person
from handraise.serving.serve import ServeConfig, reachable
from hub.fleet import fleet_of


@pytest.fixture
def service(tmp_path: Path) -> ServeConfig:
    made = ServeConfig(tmp_path / "served", Path("/bin/false"), {}, port=0)
    made.state.mkdir(mode=0o700)
    return made


async def test_a_database_that_is_away_is_announced_and_so_is_its_return(tmp_path: Path, service: ServeConfig) -> None:
    async with (
        asyncio.timeout(60),
        fleet_of(tmp_path, "laptop") as (laptop,),
        reachable(laptop.hub, service, Streams(keep_alive=0.05)) as up,
    ):
        secret = (await up.auth.make("ana", "viewer", Person("ana"), "test")).secret
        headers = {"authorization": f"Bearer {secret}"}
        async with (
            httpx2.AsyncClient(base_url=up.base, headers=headers, timeout=30, verify=PLAIN) as client,
            client.stream("GET", "/api/feed") as stream,
        ):
            events = stream.aiter_lines()
            assert "hub_trouble" not in (await client.get("/api/me")).json()
            laptop.store.is_away = True
            assert "can't be reached" in await _next_trouble(events)
            refused = await client.get("/api/sessions")
            assert (refused.status_code, error_of(refused)["code"]) == (503, "unavailable")
            laptop.store.is_away = False
            assert await _next_trouble(events) == 'data: {"trouble":""}'
            assert (await client.get("/api/sessions")).status_code == 200


async def test_doctor_says_that_the_running_hub_lost_its_machine(tmp_path: Path, service: ServeConfig) -> None:
    async with (
        asyncio.timeout(60),
        fleet_of(tmp_path, "laptop") as (laptop,),
        reachable(laptop.hub, service),
    ):
        assert await trouble_of_hub(service.state) == ""
        assert await trouble_of_hub(tmp_path) == ""
        other = laptop.config().store
        assert other is not None
        async with other(laptop.machine) as store:
            await store.claim(laptop.hub.machine)
            while not laptop.hub.trouble:
                await asyncio.sleep(0.01)
            found = check_hub(service.state, "7", await trouble_of_hub(service.state))
        assert found.verdict == "fail"
        assert found.sentence.startswith("Another hub has taken over this machine")
        assert "restart the other" in found.sentence


async def _next_trouble(lines: object) -> str:
    async for line in lines:  # type: ignore[attr-defined]
        if line.startswith('data: {"trouble"'):
            return str(line)
    raise AssertionError("the stream ended")
