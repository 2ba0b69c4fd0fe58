"""The command line's own client: a hub by its address."""

import asyncio
from pathlib import Path

import pytest

from client.odd_server import odd_server, responding
from handraise.cli.client import HubClient, NoHub

EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


async def test_an_address_may_have_a_path(tmp_path: Path) -> None:
    async with odd_server(responding(EMPTY)) as server:
        client = HubClient(tmp_path, f"{server.where}/base/")
        assert await asyncio.to_thread(client.get, "/api/asks", state="open") == {}

    assert server.targets == ["GET /base/api/asks?state=open"]
    assert f"Host: {str(server.where).removeprefix('http://')}\r\n" in server.heads[0]


async def test_it_goes_straight_to_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with odd_server(responding(EMPTY)) as server:
        assert await asyncio.to_thread(HubClient(tmp_path, str(server.where)).get, "/api/me") == {}


@pytest.mark.parametrize("address", ["http://hub:port", "http://[::1", "http://"])
def test_what_is_no_address_is_no_hub(tmp_path: Path, address: str) -> None:
    with pytest.raises(NoHub, match="reach a hub at"):
        HubClient(tmp_path, address).get("/api/me")
