"""The client for setup and checks: what it reads, and that the token is in no error."""

import asyncio
import traceback
from typing import Any

import pytest

from client.odd_server import CLOSE, Converse, OddConnection, odd_server, responding
from handraise.client.telegram import TelegramApi, TelegramError, TelegramRefused, TelegramUnreachable
from surfaces.telegram.bot_api import BOT, TOKEN, bot_api


async def call(api: str, method: str = "getMe", *, timeout: float = 10, **parameters: Any) -> Any:
    return await asyncio.to_thread(TelegramApi(TOKEN, api, timeout=timeout).call, method, **parameters)


async def failure(api: str, **more: Any) -> TelegramError:
    """The error, whose traceback doesn't have the token."""
    with pytest.raises(TelegramError) as failed:
        await call(api, **more)
    assert TOKEN not in "".join(traceback.format_exception(failed.value))
    return failed.value


def http(status: str, body: str, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + f"\r\n\r\n{body}").encode()


async def hang(connection: OddConnection) -> None:
    await connection.request()
    await connection.until_closed()


async def test_a_result_is_read_and_a_refusal_has_its_parts() -> None:
    async with bot_api() as api:
        assert (await call(f"{api.base}/"))["username"] == BOT.username
        api.refuse("getMe", 429, "Too Many Requests: retry after 7", retry_after=7)
        refused = await failure(api.base)
        assert isinstance(refused, TelegramRefused)
        assert (refused.code, refused.retry_after, refused.is_bad_token) == (429, 7, False)


async def test_the_clock_of_the_server_is_compared() -> None:
    date = "Date: Thu, 01 Jan 2026 00:00:00 GMT"
    async with odd_server(responding(http("200 OK", '{"ok": true, "result": 1}', date))) as server:
        api = TelegramApi(TOKEN, str(server.where))
        assert await asyncio.to_thread(api.call, "getMe") == 1
        assert api.skew is not None
        assert api.skew > 0


@pytest.mark.parametrize(
    "converse",
    [
        responding(CLOSE),
        responding(b"nonsense\r\n\r\n"),
        responding(http("200 OK", "<html>")),
        responding(http("502 Bad Gateway", "[]")),
        responding(http("302 Found", "", f"Location: http://127.0.0.1:9/bot{TOKEN}/getMe")),
        hang,
    ],
    ids=["closed", "nonsense", "a page", "a list", "elsewhere", "nothing"],
)
async def test_whatever_a_server_does_the_error_has_no_token(converse: Converse) -> None:
    async with odd_server(converse) as server:
        error = await failure(str(server.where), timeout=0.5)
        assert isinstance(error, TelegramUnreachable)
        assert str(error)


async def test_a_server_that_is_not_there_is_named_by_its_reason() -> None:
    assert str(await failure("http://127.0.0.1:9")) == "Connection refused"
