"""Long responses are compressed for clients that accept it, and nothing else is."""

import gzip
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.events import feed, items
from api.served import PLAIN as NO_TLS
from api.served import Served, served
from handraise.api.requests import LEAST, is_accepted

GZIP = {"accept-encoding": "gzip"}
PLAIN = {"accept-encoding": "identity"}
SQUEEZED = {
    "/api/abilities",
    "/api/asks",
    "/api/asks/{id}",
    "/api/asks/{id}/evidence/{number}",
    "/api/audit",
    "/api/items",
    "/api/machines",
    "/api/openapi.json",
    "/api/texts",
    "/api/login",
    "/api/projects",
    "/api/rules",
    "/api/search",
    "/api/sessions",
    "/api/sessions/{id}/changes",
    "/api/sessions/{id}/items",
    "/api/trust",
}


@pytest.mark.parametrize(
    ("accepts", "expected"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5, *", True),
        ("deflate, gzip ; q=1.000", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("br", False),
        ("xgzip", False),
        ("*", False),
        ("", False),
        (";;,,;q=", False),
    ],
)
def test_what_a_client_accepts_is_taken_at_its_word(accepts: str, expected: bool) -> None:
    assert is_accepted("gzip", accepts) is expected


async def _raw(client: httpx2.AsyncClient, path: str, headers: dict[str, str], **query: Any) -> httpx2.Response:
    """The response with its bytes as they came."""
    async with client.stream("GET", path, params=query, headers=headers) as response:
        response.extensions["raw"] = b"".join([piece async for piece in response.aiter_raw()])
        return response


async def _long_history(hub: Served, texts: int) -> None:
    await hub.session(phase="idle")
    await hub.publish(*(f"Text number {number} of the history." for number in range(texts)), session="s_1")


@pytest.mark.parametrize("texts", [50, 5000], ids=["at once", "in a thread"])
async def test_a_long_answer_is_the_same_compressed_or_not(tmp_path: Path, texts: int) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        await _long_history(hub, texts)
        for path in ("/api/items", "/api/sessions/s_1/items"):
            plain = await _raw(client, path, PLAIN, limit=5000)
            squeezed = await _raw(client, path, GZIP, limit=5000)
            assert "content-encoding" not in plain.headers
            assert squeezed.headers["content-encoding"] == "gzip"
            assert squeezed.headers["content-type"] == plain.headers["content-type"] == "application/json"
            for each in (plain, squeezed):
                assert each.headers["vary"] == "accept-encoding"
                assert int(each.headers["content-length"]) == len(each.extensions["raw"])
            assert gzip.decompress(squeezed.extensions["raw"]) == plain.extensions["raw"]
            assert len(squeezed.extensions["raw"]) * 4 < len(plain.extensions["raw"])


async def test_short_answers_errors_and_what_was_not_asked_for_so_stay_as_they_are(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client, hub.neighbour() as owner:
        short = await _raw(client, "/api/items", GZIP)
        assert len(short.extensions["raw"]) < LEAST
        assert "content-encoding" not in short.headers
        await _long_history(hub, 100)
        assert "content-encoding" not in (await _raw(client, "/api/items", {"accept-encoding": "gzip;q=0"})).headers
        wrong = await _raw(client, "/api/items", GZIP, **{"x" * 1000: "y" * 4000})
        assert (wrong.status_code, "content-encoding" in wrong.headers) == (422, False)
        # On this machine's own socket it would only cost time.
        assert "content-encoding" not in (await _raw(owner, "/api/items", GZIP)).headers


async def test_the_live_stream_is_never_compressed(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        await _long_history(hub, 100)
        token = await hub.token("viewer")
        async with httpx2.AsyncClient(base_url=hub.up.base, timeout=30, verify=NO_TLS) as browser:
            browser.headers |= {**GZIP, "authorization": f"Bearer {token}"}
            async with browser.stream("GET", "/api/feed", params={"after": 0}) as response:
                assert "content-encoding" not in response.headers
            async with feed(browser, after=0) as stream:
                assert len(await items(stream, 100)) == 100


async def test_nothing_that_shows_a_secret_is_compressed(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        assert {route.path for route in hub.up.app.routes if route.compress} == SQUEEZED
        assert all(route.method == "GET" for route in hub.up.app.routes if route.compress)
        # However much anyone else writes next to it.
        for number in range(60):
            await client.post("/api/tokens", json={"name": f"guess {number} " + "x" * 150, "role": "viewer"})
        listed = await _raw(client, "/api/tokens", GZIP)
        assert len(listed.extensions["raw"]) > LEAST
        assert "content-encoding" not in listed.headers
