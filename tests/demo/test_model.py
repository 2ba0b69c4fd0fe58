import asyncio
import json
import logging

import httpx2
import pytest

from demo.requests import assistant, body, user
from handraise.demo import Conversation, Piece, Script, ScriptedModel, cut, environment, fail, hold, say, use, wait
from handraise.demo.model import UnknownScript


def greet(conversation: Conversation) -> Script:
    conversation = yield [say(f"Hello, {conversation.text}.")]
    yield [say("Bye.")]


def text_of(streamed: str) -> str:
    events = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: ")]
    return "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")


async def ask(url: str, **fields: object) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.post(f"{url}/v1/messages?beta=true", json={**body(user("Ada")), **fields})


async def test_a_script_is_streamed() -> None:
    async with ScriptedModel({"greet": greet}) as model:
        response = await ask(model.url("greet"))

    assert response.headers["content-type"].startswith("text/event-stream")
    assert text_of(response.text) == "Hello, Ada."
    assert model.errors == []


async def test_a_reply_is_sent_whole_to_who_wants_it_so() -> None:
    async with ScriptedModel({"greet": greet}) as model:
        response = await ask(model.url("greet"), stream=False)

    assert response.json()["content"] == [{"type": "text", "text": "Hello, Ada."}]


async def test_every_run_plays_from_the_start() -> None:
    async with ScriptedModel({"greet": greet}) as model:
        first, second = [await ask(model.url("greet", run=run)) for run in ("1", "2")]

    assert text_of(first.text) == text_of(second.text) == "Hello, Ada."


async def test_the_same_url_goes_on_where_it_was() -> None:
    async with ScriptedModel({"greet": greet}) as model:
        await ask(model.url("greet"))
        response = await ask(model.url("greet"), messages=[user("Ada"), assistant("Hello, Ada."), user("bye")])

    assert text_of(response.text) == "Bye."
    assert [len(request.messages) for request in model.requests("greet")] == [1, 3]


async def test_a_failure_has_its_status_and_the_time_to_come_back() -> None:
    def busy(conversation: Conversation) -> Script:
        yield [fail(429, "rate_limit_error", retry_after=2)]

    async with ScriptedModel({"busy": busy}) as model:
        response = await ask(model.url("busy"))

    assert response.status_code == 429
    assert response.headers["retry-after"] == "2"
    assert response.json()["error"]["type"] == "rate_limit_error"


async def test_a_cut_breaks_the_connection_and_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(conversation: Conversation) -> Script:
        yield [say("half"), cut()]

    async with ScriptedModel({"broken": broken}) as model:
        with pytest.raises(httpx2.RemoteProtocolError):
            await ask(model.url("broken"))

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_held_reply_waits_for_its_release() -> None:
    def held(conversation: Conversation) -> Script:
        yield [say("before "), hold("gate"), say("after")]

    async with ScriptedModel({"held": held}) as model, asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        answer = tasks.create_task(ask(model.url("held")))
        await model.held("gate")
        assert not answer.done()
        model.release("gate")

    assert text_of(answer.result().text) == "before after"


async def test_a_release_may_come_before_its_hold() -> None:
    def held(conversation: Conversation) -> Script:
        yield [hold("gate"), say("through")]

    async with ScriptedModel({"held": held}) as model, asyncio.timeout(60):
        model.release("gate")
        assert text_of((await ask(model.url("held"))).text) == "through"


@pytest.mark.parametrize("silence", [hold("never"), wait(3600)], ids=["hold", "wait"])
async def test_the_model_closes_at_once_though_a_reply_is_open(
    silence: Piece, caplog: pytest.LogCaptureFixture
) -> None:
    def stuck(conversation: Conversation) -> Script:
        yield [say("before"), silence, say("after")]

    async with asyncio.timeout(60), httpx2.AsyncClient() as client:
        async with ScriptedModel({"stuck": stuck}) as model:
            call = client.build_request("POST", f"{model.url('stuck')}/v1/messages", json=body(user("Ada")))
            response = await client.send(call, stream=True)
            lines = response.aiter_lines()
            while "content_block_stop" not in await anext(lines):
                pass
        with pytest.raises(httpx2.RemoteProtocolError):
            [line async for line in lines]

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_what_is_raised_beside_the_model_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with ScriptedModel({"greet": greet}):
            raise ZeroDivisionError


async def test_without_stretch_no_pause_is_made() -> None:
    def slow(conversation: Conversation) -> Script:
        yield [wait(3600), say("a b c", pace=3600)]

    async with ScriptedModel({"slow": slow}, stretch=0) as model, asyncio.timeout(60):
        assert text_of((await ask(model.url("slow"))).text) == "a b c"


async def test_the_rest_of_the_api_is_answered_sensibly() -> None:
    async with ScriptedModel({"greet": greet}) as model, httpx2.AsyncClient() as client:
        url = model.url("greet")
        counted = await client.post(f"{url}/v1/messages/count_tokens", json=body(user("Ada")))
        greeted = await client.head(f"{url}/api/hello")
        unknown = await client.post(f"{url}/v1/nothing", json={})

    assert counted.json()["input_tokens"] > 1
    assert (greeted.status_code, unknown.status_code) == (200, 404)
    assert model.requests("greet") == ()


async def test_an_unknown_script_and_an_unreadable_request_are_kept_as_errors() -> None:
    async with ScriptedModel({"greet": greet}) as model, httpx2.AsyncClient() as client:
        lost = await client.post(model.url("greet").replace("greet", "nobody") + "/v1/messages", json=body(user("Ada")))
        unread = await client.post(model.url("greet") + "/v1/messages", content=b"{")
        with pytest.raises(UnknownScript):
            model.url("nobody")

    assert (lost.status_code, unread.status_code) == (404, 404)
    assert len(model.errors) == 2


async def test_what_a_script_did_wrong_is_kept_on_the_model() -> None:
    def faulty(conversation: Conversation) -> Script:
        yield [use("Read", file_path=conversation.result().text)]

    async with ScriptedModel({"faulty": faulty}) as model:
        response = await ask(model.url("faulty"))

    assert "THE SCRIPT FAILED" in text_of(response.text)
    assert len(model.errors) == 1


def test_claude_sees_the_model_its_home_and_nothing_of_ours() -> None:
    variables = environment("http://127.0.0.1:1/play/x/1", "/home/demo")

    assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1/play/x/1"
    assert variables["HOME"] == "/home/demo"
    assert variables["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert "PYTHONPATH" not in variables
