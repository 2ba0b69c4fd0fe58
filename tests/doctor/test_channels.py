"""The check of a hub's channels, each with its server on loopback."""

from pathlib import Path

import httpx2
import pytest

from api.served import Served, served
from channels.counterparts import SECRET, Counterpart, closed_port, counterpart
from handraise.channels.model import ChannelKind
from handraise.doctor.channels import check_channels
from handraise.reach.situation import ReachConfig

PRIVATE = ReachConfig(private_addresses=True)


async def add(hub: Served, kind: ChannelKind, other: Counterpart) -> None:
    """A channel of the person who uses the hub's own machine."""
    transport = httpx2.AsyncHTTPTransport(uds=str(hub.state / "hub.sock"))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        wanted = {"name": "Somewhere", "kind": kind, "fields": other.typed()}
        made = await client.post("/api/notifications/channels", json=wanted)
        assert made.status_code == 201, made.text


@pytest.mark.parametrize(
    ("kind", "words"),
    [("ntfy", "accepts the sign-in"), ("email", "accepts the sign-in"), ("apprise", "can be read")],
)
async def test_a_channel_that_works_is_named_and_gets_no_message(tmp_path: Path, kind: ChannelKind, words: str) -> None:
    async with counterpart(kind) as other, served(tmp_path, notifications=PRIVATE) as hub:
        assert await check_channels(hub.state) == []
        await add(hub, kind, other)
        (found,) = await check_channels(hub.state)
        assert kind == "apprise" or other.arrived() == []
    assert found.verdict == "ok"
    assert found.sentence.startswith("Somewhere: ")
    assert words in found.sentence


@pytest.mark.parametrize("kind", ["ntfy", "email"])
async def test_a_wrong_sign_in_fails_with_the_next_step(tmp_path: Path, kind: ChannelKind) -> None:
    async with counterpart(kind) as other, served(tmp_path, notifications=PRIVATE) as hub:
        await add(hub, kind, other)
        other.fail("unauthorized")
        (found,) = await check_channels(hub.state)
    assert found.verdict == "fail"
    assert "refused the sign-in" in found.sentence
    assert "Check the" in found.sentence
    assert SECRET not in found.sentence


@pytest.mark.parametrize("kind", ["ntfy", "email"])
async def test_a_server_that_is_away_is_named(tmp_path: Path, kind: ChannelKind) -> None:
    async with counterpart(kind) as other, served(tmp_path, notifications=PRIVATE) as hub:
        other.port = await closed_port()
        await add(hub, kind, other)
        (found,) = await check_channels(hub.state)
    assert found.verdict == "fail"
    assert "reached" in found.sentence
