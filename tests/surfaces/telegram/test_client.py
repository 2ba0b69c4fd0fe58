"""The Bot API client: what it calls, what failures mean, and that the token stays out of everything (lesson 60)."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from handraise.surfaces.telegram.bot_types import Update
from handraise.surfaces.telegram.client import (
    BadApiAddress,
    BotClient,
    BotError,
    BotRefused,
    BotUnreached,
    BotUpload,
    check_api,
)
from surfaces.telegram.bot_api import BOT, BotApi
from surfaces.telegram.chats import DEADLINE
from surfaces.telegram.faults import Fault
from surfaces.telegram.loop_clock import LoopClock

SECRET = "made-up-for-tests"
"""The part of the token that must not appear anywhere."""


@pytest.fixture
async def client(api: BotApi) -> AsyncIterator[BotClient]:
    async with BotClient(api.token, api.base, deadline=DEADLINE) as made:
        yield made


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Every logger says everything."""
    names = [None, *logging.root.manager.loggerDict]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    yield caplog
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


async def failure(client: BotClient, method: str = "getMe", params: dict[str, Any] | None = None) -> BotError:
    with pytest.raises(BotError) as caught:
        await client.call(method, params)
    return caught.value


async def run_into(fault: Fault, api: BotApi, client: BotClient, clock: LoopClock) -> BotError:
    """What the client says of it. A server that is silent is waited for until the deadline."""
    api.fail("*", fault)
    calling = asyncio.ensure_future(failure(client))
    if fault in ("silent", "silent-after"):
        await api.until_silent()
        clock.pass_by(DEADLINE)
    return await calling


async def test_a_bot_knows_itself(client: BotClient) -> None:
    assert (await client.me()).username == BOT.username


async def test_updates_arrive_in_order_and_are_confirmed(api: BotApi, client: BotClient) -> None:
    ana = api.someone(1001, "Ana", "Lima")
    ana.start()
    message = ana.write("hello")
    first, second = await client.updates(None, 0)
    assert second.message is not None
    assert second.message.from_ is not None
    assert (second.message.text, second.message.from_.name, second.message.message_id) == (
        "hello",
        "Ana Lima",
        message.number,
    )
    assert second.message.chat.private
    assert second.update_id == first.update_id + 1
    assert await client.updates(second.update_id + 1, 0) == []
    await api.confirmed()


async def test_presses_blocks_and_stops_arrive(api: BotApi, client: BotClient) -> None:
    ana = api.someone(1001, "Ana")
    ana.start()
    markup = {"inline_keyboard": [[{"text": "Yes", "callback_data": "x"}]]}
    await client.call("sendMessage", {"chat_id": 1001, "text": "Run?", "reply_markup": markup})
    await client.call("sendMessageDraft", {"chat_id": 1001, "draft_id": 7, "text": "…", "can_stop": True})
    ana.press(ana.private.last, "Yes")
    ana.stop_generation()
    ana.block()
    _, press, stopped, blocked = await client.updates(None, 0)
    assert press.callback_query is not None
    assert press.callback_query.message is not None
    assert (press.callback_query.data, press.callback_query.from_.id) == ("x", 1001)
    assert stopped.stopped_message_generation is not None
    assert stopped.stopped_message_generation.draft_id == 7
    assert blocked.my_chat_member is not None
    assert blocked.my_chat_member.new_chat_member.status == "kicked"


async def test_files_go_both_ways(api: BotApi, client: BotClient) -> None:
    ana = api.someone(1001, "Ana")
    ana.start()
    name = 'a "b" é.txt'
    await client.call("sendDocument", {"chat_id": 1001}, {"document": BotUpload(name, b"\x00data", "text/plain")})
    assert ana.private.last.file is not None
    assert ana.private.last.file.content == b"\x00data"
    ana.send_file("back.bin", b"abc" * 1000)
    *_, update = await client.updates(None, 0)
    assert update.message is not None
    assert update.message.attachment is not None
    assert await client.download(update.message.attachment.file_id) == b"abc" * 1000
    with pytest.raises(BotRefused) as caught:
        await client.download(update.message.attachment.file_id, most=2999)
    assert caught.value.code == 413


async def test_a_refusal_carries_telegrams_reason(api: BotApi, client: BotClient) -> None:
    refused = await failure(client, "sendMessage", {"chat_id": 5, "text": "x"})
    assert isinstance(refused, BotRefused)
    assert (refused.code, refused.description) == (400, "Bad Request: chat not found")
    api.refuse("getMe", 429, "Too Many Requests: retry after 7", retry_after=7)
    api.refuse("getMe", 400, "Bad Request: upgraded", migrate_to_chat_id=-100500)
    busy, moved = await failure(client), await failure(client)
    assert isinstance(busy, BotRefused)
    assert isinstance(moved, BotRefused)
    assert (busy.retry_after, moved.migrate_to) == (7.0, -100500)


@pytest.mark.parametrize("fault", ["500", "502"])
async def test_a_server_error_is_a_refusal(api: BotApi, client: BotClient, fault: Any) -> None:
    api.fail("getMe", fault)
    refused = await failure(client)
    assert isinstance(refused, BotRefused)
    assert refused.code == int(fault)
    assert (await client.me()).is_bot, "and the next call works"


@pytest.mark.parametrize("fault", ["silent", "silent-after", "drop", "drop-after"])
async def test_without_an_answer_the_effect_is_unknown(
    api: BotApi, clock: LoopClock, client: BotClient, fault: Fault
) -> None:
    unreached = await run_into(fault, api, client, clock)
    assert isinstance(unreached, BotUnreached)
    assert not unreached.certain


async def test_a_call_that_was_never_sent_surely_had_no_effect(api: BotApi) -> None:
    async with BotClient(api.token, "http://127.0.0.1:1") as client:
        unreached = await failure(client)
        assert isinstance(unreached, BotUnreached)
        assert unreached.certain


async def test_a_kept_connection_that_broke_is_not_used_again(api: BotApi, client: BotClient) -> None:
    for _ in range(3):
        await client.me()
        api.cut()
        await asyncio.sleep(0)
    assert api.count("getMe") == 3


@asynccontextmanager
async def server(*answers: bytes) -> AsyncIterator[str]:
    """Answers every request with the next of these, byte for byte."""
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(left.pop(0))
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("reply", "code", "pause"),
    [
        (answer(b"<html>", "502 Bad Gateway"), 502, None),
        (answer(b"", "503 Service Unavailable", "retry-after: 9"), 503, 9.0),
        (answer(b"", "429 Too Many Requests", "retry-after: soon"), 429, None),
        (answer(b"", "302 Found", "location: http://127.0.0.1:1/"), 302, None),
        (answer(b'{"ok":false,"error_code":400,"description":"x"}', "400 Bad Request"), 400, None),
        (answer(b'{"ok":false,"error_code":429,"parameters":{"retry_after":1e30}}'), 429, 86400.0),
        (answer(b'{"ok":false}', "418 Teapot"), 418, None),
    ],
)
async def test_whatever_answers_is_understood(reply: bytes, code: int, pause: float | None) -> None:
    async with server(reply) as base, BotClient("1:x", base) as client:
        refused = await failure(client)
        assert isinstance(refused, BotRefused)
        assert (refused.code, refused.retry_after) == (code, pause)


@pytest.mark.parametrize(
    "reply",
    [
        answer(b"not json"),
        answer(b"[1, 2"),
        answer(b"\xff\xfe"),
        answer(b"", "504 Gateway Timeout"),
        b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{}",
        b"\x00\x01\x02\r\n\r\n",
    ],
)
async def test_an_answer_that_makes_no_sense_leaves_the_effect_unknown(reply: bytes) -> None:
    async with server(reply) as base, BotClient("1:x", base) as client:
        unreached = await failure(client)
        assert isinstance(unreached, BotUnreached)
        assert not unreached.certain


async def test_an_update_that_can_not_be_read_still_has_its_number() -> None:
    body = (
        b'{"ok":true,"result":[{"update_id":1,"message":{"message_id":"x"}},{"no":"number"},7,'
        b'{"update_id":2,"unknown":{"a":1},"message":{"message_id":3,"date":1,"chat":{"id":99999999999999999999,'
        b'"type":"private"}}},{"update_id":3,"message":{"message_id":3,"chat":{"id":4},"new":[]}}]}'
    )
    async with server(answer(body)) as base, BotClient("1:x", base) as client:
        updates = await client.updates(None, 0)
    assert [each.update_id for each in updates] == [1, 2, 3]
    assert updates[0] == Update(1)
    assert updates[2].message is not None


async def test_an_endless_answer_is_cut_off() -> None:
    endless = b"HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n" + b"x" * (17 * 1024 * 1024)
    async with server(endless) as base, BotClient("1:x", base) as client:
        assert isinstance(await failure(client), BotUnreached)


@pytest.mark.parametrize(
    "bad",
    ["", "ftp://x", "file:///etc", "api.telegram.org", "http://", "https://a@b.org", "https://b.org/?x", "http://[x"],
)
def test_an_address_that_is_no_server_is_refused(bad: str) -> None:
    with pytest.raises(BadApiAddress):
        check_api(bad)


def test_a_server_of_ones_own_may_have_a_path() -> None:
    assert check_api(" http://127.0.0.1:8081/bots/ ") == "http://127.0.0.1:8081/bots"


# lesson 60
async def test_the_token_is_in_no_log_error_or_repr(
    api: BotApi, clock: LoopClock, logged: pytest.LogCaptureFixture
) -> None:
    asyncio.get_running_loop().set_debug(True)
    faults: tuple[Fault, ...] = ("500", "502", "drop", "drop-after", "silent")
    async with BotClient(api.token, api.base, deadline=DEADLINE) as client:
        await client.me()
        await client.updates(None, 0)
        errors = [await run_into(fault, api, client, clock) for fault in faults]
        api.refuse("getMe", 404, f"Not Found: /bot{api.token}/getMe")
        errors.append(await failure(client))
        errors.append(await failure(client, "getFile", {"file_id": "none"}))
        texts = [repr(client), str(vars(client)["_http"])]
    async with BotClient(api.token, "http://127.0.0.1:1") as nowhere:
        errors.append(await failure(nowhere))
    asyncio.get_running_loop().set_debug(False)
    for error in errors:
        assert error.__context__ is None
        assert error.__cause__ is None
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        texts += [repr(error), str(error), str(vars(error)), "".join(shown.format())]
    texts += [record.getMessage() + str(record.exc_text) + str(record.args) for record in logged.records]
    assert any("HTTP Request" in text for text in texts), "the HTTP client logs what it can"
    assert any("send_request_headers" in text for text in texts)
    assert [text for text in texts if SECRET in text] == []
