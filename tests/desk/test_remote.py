"""The remote desk: on the Unix socket and by address, and what it does when the hub goes away."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

import handraise
from api.served import TESTER, served
from client.odd_server import CLOSE, odd_server, responding
from handraise.desk.interface import DeskError, Follower, LostPlace, NotLetIn, Unreached
from handraise.desk.remote import NO_TIMEOUT, RemoteDesk
from handraise.model.answers import Allow
from handraise.model.asks import Permission
from handraise.model.items import Preview
from handraise.store.changes import Prune

EXAMPLES = Path(__file__).parents[2] / "examples"


async def test_on_the_unix_socket_it_is_the_owner(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, RemoteDesk(hub.state / "hub.sock") as desk:
        assert (desk.person.name, desk.source) == ("owner", "terminal")
    async with served(tmp_path) as hub, RemoteDesk(hub.state / "hub.sock", source="robot") as desk:
        assert desk.source == "robot"


@pytest.mark.parametrize("claimed", ["hub", "rule", "x y", "", "a" * 50, "Ünï"])
async def test_nobody_calls_itself_what_the_hub_is_called(tmp_path: Path, claimed: str) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        response = await client.get("/api/me", headers=[(b"handraise-surface", claimed.encode())])
        assert response.json()["source"] == "api"


async def test_where_no_hub_is_it_says_how_to_start_one(tmp_path: Path) -> None:
    for where in (tmp_path / "hub.sock", "http://127.0.0.1:9"):
        with pytest.raises(Unreached, match="handraise serve"):
            await RemoteDesk(where).__aenter__()


async def test_who_is_not_let_in_is_told_so(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        with pytest.raises(NotLetIn, match="unknown"):
            await RemoteDesk(hub.up.base, "nonsense").__aenter__()
        async with RemoteDesk(hub.up.base, await hub.token("viewer")) as desk:
            ask = await hub.ask(Permission("Bash", {"command": "ls"}))
            with pytest.raises(NotLetIn, match="you are a viewer"):
                await desk.answer(ask.id, Allow())


@pytest.mark.parametrize("page", [b"<html>Welcome</html>", b""], ids=["a page", "nothing"])
@pytest.mark.parametrize("status", [b"200 OK", b"302 Found", b"404 Not Found"])
async def test_another_web_server_is_not_mistaken_for_a_hub(status: bytes, page: bytes) -> None:
    response = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(page), page)
    async with odd_server(responding(response)) as server:
        with pytest.raises(Unreached, match="not a Handraise hub"):
            await RemoteDesk(server.where).__aenter__()


async def test_an_answer_whose_response_is_lost_is_not_sent_again() -> None:
    me = b'{"name":"ana","source":"terminal"}'
    response = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(me), me)
    async with odd_server(responding(response, CLOSE)) as server, RemoteDesk(server.where) as desk:
        with pytest.raises(Unreached):
            await desk.answer("a_1", Allow())

    assert server.targets == ["GET /api/me", "POST /api/asks/a_1/answer"]


async def test_names_that_are_no_names_are_not_found_and_nothing_else(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, RemoteDesk(hub.state / "hub.sock") as desk:
        for name in ("../tokens", "a/b", "?x=1", "%2e%2e", "ä ö", "#"):
            with pytest.raises(DeskError, match="There is"):
                await desk.ask(name)


async def test_a_follower_goes_on_where_it_was_when_the_hub_comes_back(tmp_path: Path) -> None:
    async with _desk(tmp_path) as (restart, desk, publish), desk.follow() as follower:
        for _ in range(3):
            await publish()
            await restart()
            await publish()
        assert await _cursors(follower, 6) == [1, 2, 3, 4, 5, 6]


async def test_without_patience_a_lost_hub_is_told_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        desk = await RemoteDesk(hub.state / "hub.sock").__aenter__()
        following = desk.follow(0)
        follower = await following.__aenter__()
    with pytest.raises(Unreached, match="Lost the connection"):
        await anext(follower)
    with suppress(Unreached):
        await following.__aexit__(None, None, None)
    with pytest.raises(Unreached):
        await desk.newest()
    await desk.__aexit__()


async def test_a_place_that_was_pruned_while_it_was_away_is_lost_and_not_skipped(tmp_path: Path) -> None:
    async with _desk(tmp_path) as (restart, desk, publish), desk.follow(0) as follower:
        await publish()
        assert await _cursors(follower, 1) == [1]

        async def prune() -> None:
            for _ in range(5):
                await publish()
            await publish(Prune(4))

        await restart(prune)
        with pytest.raises(LostPlace):
            await _cursors(follower, 99)


async def test_a_revoked_token_ends_the_follower(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        made = await hub.up.auth.make("a phone", "viewer", TESTER, "test")
        async with RemoteDesk(hub.up.base, made.secret, patience=NO_TIMEOUT) as desk, desk.follow() as follower:
            await hub.up.auth.revoke(made.token.id, TESTER, "test")
            with pytest.raises(NotLetIn):
                await anext(follower)


async def test_a_thousand_asks_are_listed_whole(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, RemoteDesk(hub.state / "hub.sock") as desk:
        for _ in range(5):
            await asyncio.gather(*(hub.ask() for _ in range(500)))
        assert len(await desk.asks()) == 2500


def test_importing_the_package_brings_no_client_along() -> None:
    code = "import sys, handraise; assert not {'httpx2', 'msgspec', 'starlette'} & set(sys.modules); handraise.connect"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="nothing_else"):
        _ = handraise.nothing_else


async def test_the_example_answers_what_it_may_and_leaves_the_rest(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        before = await hub.ask(Permission("Read", {"file_path": "/a"}))
        other = await hub.ask(Permission("Bash", {"command": "rm"}))
        token = await hub.token("approver")
        example = await asyncio.create_subprocess_exec(
            sys.executable, EXAMPLES / "watch_and_answer.py", hub.up.base, token, stdout=asyncio.subprocess.PIPE
        )
        assert example.stdout is not None
        try:
            fields = {(await example.stdout.readline()).decode().split()[0] for _ in range(2)}
            later = await hub.ask(Permission("Read", {"file_path": "/b"}))
            fields |= {(await example.stdout.readline()).decode().split()[0]}
        finally:
            example.kill()
            await example.wait()
        assert fields == {before.id, other.id, later.id}
        states = [(await hub.up.hub.desk.ask(each.id)).state for each in (before, other, later)]
        assert states == ["answered", "open", "answered"]
        settled = (await hub.up.hub.desk.ask(before.id)).settlement
        assert settled is not None
        assert getattr(settled, "source", "") == "example"


Restart = Callable[..., Awaitable[None]]


@asynccontextmanager
async def _desk(tmp_path: Path) -> AsyncIterator[tuple[Restart, RemoteDesk, Callable[..., Awaitable[None]]]]:
    """A patient desk at a hub that can be restarted."""
    current = served(tmp_path)
    hubs = [await current.__aenter__()]
    contexts = [current]

    async def restart(meanwhile: Callable[[], Awaitable[None]] | None = None) -> None:
        if meanwhile is not None:
            # Nobody can follow while the streams are closing.
            hubs[-1].up.app.streams.close()
            await meanwhile()
        await contexts.pop().__aexit__(None, None, None)
        contexts.append(served(tmp_path))
        hubs.append(await contexts[-1].__aenter__())

    async def publish(*changes: object) -> None:
        if changes:
            await hubs[-1].up.hub.store.apply(changes)  # type: ignore[arg-type]
        else:
            await hubs[-1].publish("x")

    try:
        async with RemoteDesk(tmp_path / "state" / "hub.sock", patience=NO_TIMEOUT) as desk:
            yield restart, desk, publish
    finally:
        await contexts.pop().__aexit__(None, None, None)


async def _cursors(follower: Follower, count: int) -> list[int]:
    found: list[int] = []
    async with asyncio.timeout(60):
        while len(found) < count:
            news = await anext(follower)
            found += [] if isinstance(news, Preview) else [item.cursor for item in news]
    return found
