"""The relay endpoints of the ask-user specification, over real HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.served import PLAIN
from handraise.api.stream import Streams
from handraise.client import http
from handraise.model.asks import Withdrawn
from handraise.model.projects import Options
from handraise.serving.serve import RunningHub, ServeConfig, serving

OPTIONS = [{"label": "Option A", "description": "Simple"}, {"label": "Option B"}]
NOBODYS = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"


class Stream:
    """A run: its MCP server, and the page where someone answers."""

    def __init__(self, served: RunningHub, server: httpx2.AsyncClient, page: httpx2.AsyncClient) -> None:
        self.served = served
        self.server = server
        self.page = page
        self.token = ""
        self.project = ""

    async def open(self, name: str) -> None:
        made = await self.page.post("/api/runs", json={"project": name})
        assert made.status_code == 201, made.text
        self.token = made.json()["streamToken"]
        self.project = json.loads(Path(made.json()["path"]).read_text())["projectId"]

    async def relay(self, question: str = "Which?", **more: Any) -> httpx2.Response:
        fields = {"streamToken": self.token, "question": question, **more}
        return await self.server.post("/claude/relay-question", params={"p": self.project}, json=fields)

    async def poll(self, **more: Any) -> httpx2.Response:
        return await self.server.get(
            "/claude/poll-answer", params={"p": self.project, "streamToken": self.token, **more}
        )

    async def submit(self, **text: Any) -> httpx2.Response:
        sent = {"streamToken": self.token, **text}
        return await self.page.post("/claude/submit-answer", params={"p": self.project}, json=sent)


@pytest.fixture
async def stream(tmp_path: Path) -> AsyncIterator[Stream]:
    async with opened(tmp_path) as found:
        yield found


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[Stream]:
    service = ServeConfig(tmp_path / "state", Path("/bin/false"), {}, port=0)
    async with serving(service, Streams(keep_alive=0.2)) as served:
        await served.hub.desk.add_project(str(tmp_path), "here", Options())
        code = (await served.new_link()).partition("code=")[2]
        async with (
            httpx2.AsyncClient(base_url=served.base, verify=PLAIN) as server,
            httpx2.AsyncClient(base_url=served.base, headers={"origin": served.base}, verify=PLAIN) as page,
        ):
            await page.get("/login", params={"code": code})
            found = Stream(served, server, page)
            await found.open("here")
            yield found


async def test_a_question_is_relayed_answered_and_delivered_once(stream: Stream) -> None:
    relayed = await stream.relay(options=OPTIONS)
    assert relayed.status_code == 200
    ask = relayed.json()["askId"]
    waiting = await stream.poll()
    assert (waiting.status_code, waiting.json()) == (202, {"status": "waiting"})

    assert (await stream.submit(answer="Option A", selectedOptions=[0])).status_code == 200
    first, second = await stream.poll(), await stream.poll()
    assert first.status_code == 200
    assert first.json() == {"status": "answered", "answer": "Option A", "selectedOptions": [0], "askId": ask}
    assert (second.status_code, second.json()) == (202, {"status": "waiting"})


async def test_free_text_and_several_options(stream: Stream) -> None:
    await stream.relay()
    await stream.submit(answer="my own words")
    assert (await stream.poll()).json()["answer"] == "my own words"

    await stream.relay("And which?", options=OPTIONS, multiSelect=True)
    await stream.submit(answer="Option A, Option B, and more", selectedOptions=[0, 1])
    response = (await stream.poll()).json()
    assert (response["answer"], response["selectedOptions"]) == ("Option A, Option B, and more", [0, 1])

    ask = (await stream.relay("Once more?", options=OPTIONS, multiSelect=True)).json()["askId"]
    await stream.submit(answer="and more", selectedOptions=[1, 1], askId=ask)
    response = (await stream.poll()).json()
    assert (response["answer"], response["selectedOptions"]) == ("Option B, and more", [1])

    await stream.relay("By its words?", options=OPTIONS)
    await stream.submit(answer="Option B")
    assert (await stream.poll()).json()["selectedOptions"] == [1]


async def test_a_held_poll_ends_with_the_answer(stream: Stream) -> None:
    ask = (await stream.relay()).json()["askId"]
    held = asyncio.create_task(stream.poll(wait=30, askId=ask))
    await stream.submit(answer="soon", askId=ask)

    assert (await held).json()["answer"] == "soon"


async def test_several_questions_at_once_do_not_overwrite_each_other(stream: Stream) -> None:
    one, two = [(await stream.relay(text)).json()["askId"] for text in ("One?", "Two?")]
    unclear = await stream.submit(answer="to which?")
    assert unclear.status_code == 400
    assert "askId" in unclear.json()["error"]["message"]

    assert (await stream.submit(answer="second", askId=two)).status_code == 200
    assert (await stream.submit(answer="first", askId=one)).status_code == 200
    assert (await stream.poll(askId=one)).json()["answer"] == "first"
    assert (await stream.poll(askId=two)).json()["answer"] == "second"


async def test_a_late_answer_never_reaches_the_next_question(stream: Stream) -> None:  # lesson 27
    first = (await stream.relay("First?")).json()["askId"]
    await stream.submit(answer="one", askId=first)
    await stream.poll()
    second = (await stream.relay("Second?")).json()["askId"]

    late = await stream.submit(answer="another", askId=first)
    assert late.status_code == 409
    assert (await stream.poll(askId=second)).status_code == 202


async def test_a_page_that_shows_an_older_question_and_names_none_does_not_answer_the_next(stream: Stream) -> None:
    first = (await stream.relay("First?", options=OPTIONS)).json()["askId"]
    await stream.submit(answer="Option A", selectedOptions=[0], askId=first)
    await stream.poll()
    await stream.relay("Delete it?", options=[{"label": "Yes"}, {"label": "No"}])

    late = await stream.submit(answer="Option A", selectedOptions=[0])
    assert (late.status_code, "askId" in late.json()["error"]["message"]) == (400, True)
    assert (await stream.poll()).status_code == 202


async def test_the_same_answer_twice_is_fine_and_another_is_told_who_was_first(stream: Stream) -> None:
    ask = (await stream.relay(options=OPTIONS)).json()["askId"]
    first = await stream.submit(answer="Option A", selectedOptions=[0], askId=ask)
    again = await stream.submit(answer="Option A", selectedOptions=[0], askId=ask)
    other = await stream.submit(answer="Option B", selectedOptions=[1], askId=ask)

    assert [each.status_code for each in (first, again, other)] == [200, 200, 409]
    assert "Already answered by owner" in other.json()["error"]["message"]
    assert (await stream.poll()).json()["selectedOptions"] == [0]


async def test_two_who_poll_get_the_answer_once_between_them(stream: Stream) -> None:
    ask = (await stream.relay()).json()["askId"]
    held = [asyncio.create_task(stream.poll(wait=30, askId=ask)) for _ in range(4)]
    await stream.submit(answer="mine", askId=ask)

    assert sorted([(await each).status_code for each in held]) == [200, 202, 202, 202]


async def test_switched_off_nothing_is_relayed(stream: Stream) -> None:
    await stream.served.hub.desk.change_project("here", None, Options(ask_user_enabled=False))
    relayed = await stream.relay()

    assert (relayed.status_code, relayed.json()["error"]["message"]) == (
        403,
        "ask_user is turned off in this project.",
    )
    assert await stream.served.hub.desk.asks(state=None) == []


@pytest.mark.parametrize(("token", "status"), [(NOBODYS, 403), ("../../secret", 400), ("", 400), (None, 400), (7, 400)])
async def test_a_stream_that_is_not_active_is_refused(stream: Stream, token: object, status: int) -> None:
    fields = {"streamToken": token, "question": "Which?"}
    relayed = await stream.server.post("/claude/relay-question", params={"p": stream.project}, json=fields)

    assert relayed.status_code == status


async def test_another_project_and_another_stream_are_refused(stream: Stream, tmp_path: Path) -> None:
    ask = (await stream.relay()).json()["askId"]
    own, stream.project = stream.project, "p_other"
    assert (await stream.relay()).status_code == 403
    assert (await stream.poll()).status_code == 403
    assert (await stream.submit(answer="x", askId=ask)).status_code == 403

    stream.project = own
    await stream.open("here")
    assert (await stream.poll(askId=ask)).status_code == 403
    assert (await stream.submit(answer="x", askId=ask)).status_code == 403


@pytest.mark.parametrize(
    "text",
    [b"{", b"[]", b'{"question": 7}', b'{"question": ""}', b'{"question": "Which?", "options": [{"label": ""}]}'],
)
async def test_bad_input_is_told(stream: Stream, text: bytes) -> None:
    sent = text.replace(b"{", b'{"streamToken": "%s",' % stream.token.encode(), 1) if text.endswith(b"}") else text
    relayed = await stream.server.post("/claude/relay-question", params={"p": stream.project}, content=sent)

    assert relayed.status_code == 400
    assert relayed.json()["error"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        {"answer": ""},
        {"answer": "x", "selectedOptions": [7]},
        {"selectedOptions": "0"},
        {"selectedOptions": [True]},
        {"selectedOptions": [-1]},
        {"selectedOptions": [0, 1]},
        {"answer": ["Option A"]},
        {"answer": "Yes", "selectedOptions": [0]},
    ],
)
async def test_an_answer_that_does_not_fit_leaves_the_question_open(stream: Stream, text: dict[str, Any]) -> None:
    await stream.relay(options=OPTIONS)

    assert (await stream.submit(**text)).status_code == 400
    assert (await stream.poll()).status_code == 202


async def test_names_with_half_an_emoji_in_them_are_names_too(stream: Stream) -> None:
    half = "ab\ud83d"
    text = json.dumps({"streamToken": stream.token, "question": half, "reference": half})
    for _ in range(2):
        relayed = await stream.server.post("/claude/relay-question", params={"p": stream.project}, content=text)
        assert relayed.status_code == 200
    [ask] = await stream.served.hub.desk.asks()
    assert relayed.json()["askId"] == ask.id

    text = json.dumps({"streamToken": stream.token, "askId": half, "answer": "x"})
    headers = {"content-type": "application/json"}
    unknown = await stream.page.post(
        "/claude/submit-answer", params={"p": stream.project}, content=text, headers=headers
    )
    assert unknown.status_code == 403


async def test_only_somebody_who_is_logged_in_and_on_our_page_answers(stream: Stream) -> None:  # lesson 45
    await stream.relay()
    fields = {"streamToken": stream.token, "answer": "x"}
    nobody = await stream.server.post("/claude/submit-answer", params={"p": stream.project}, json=fields)
    assert nobody.status_code in (401, 403)
    foreign = await stream.page.post(
        "/claude/submit-answer", params={"p": stream.project}, json=fields, headers={"origin": "http://example.org"}
    )
    assert foreign.status_code == 403
    made = await stream.served.auth.make("agent", "agent", stream.served.hub.desk.person, "test")
    agent = await stream.server.post(
        "/claude/submit-answer",
        params={"p": stream.project},
        json=fields,
        headers={"authorization": f"Bearer {made.secret}"},
    )
    assert agent.status_code == 403
    assert (await stream.poll()).status_code == 202


async def test_the_question_is_on_the_stream_as_the_page_waits_for_it(stream: Stream) -> None:
    async with stream.page.stream("GET", "/api/feed", params={"after": 0}) as feed:
        lines = feed.aiter_lines()
        ask = (await stream.relay(options=OPTIONS)).json()["askId"]
        async with asyncio.timeout(60):
            async for line in lines:
                if line == "event: ask_user_question":
                    break
            response = json.loads((await anext(lines)).removeprefix("data: "))

    assert response == {
        "type": "ask_user_question",
        "data": {
            "question": "Which?",
            "options": [{"label": "Option A", "description": "Simple"}, {"label": "Option B", "description": ""}],
            "multiSelect": False,
            "streamToken": stream.token,
            "askId": ask,
        },
    }


async def test_the_event_is_not_told_again_when_the_question_is_answered_nor_to_who_may_only_look(
    stream: Stream,
) -> None:
    made = await stream.served.auth.make("viewer", "viewer", stream.served.hub.desk.person, "test")
    await stream.relay()
    assert (await events(stream.page), await events(stream.server, made.secret)) == (["ask_user_question"], [])
    await stream.submit(answer="done")

    assert await events(stream.page) == []  # lesson 32


async def events(client: httpx2.AsyncClient, secret: str = "") -> list[str]:
    """The events besides items that a follower gets from the start."""
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    text, is_opened = [], False
    async with asyncio.timeout(60), client.stream("GET", "/api/feed", params={"after": 0}, headers=headers) as feed:
        async for line in feed.aiter_lines():
            is_opened = is_opened or '"ask.opened"' in line
            text += [line.removeprefix("event: ")] if line.startswith("event: ") else []
            if is_opened and text[-1:] == ["ping"]:
                return [each for each in text if each == "ask_user_question"]
    raise AssertionError("the feed ended")


async def test_a_run_that_has_ended_asks_nothing_more(stream: Stream) -> None:
    assert (await stream.page.delete(f"/api/runs/{stream.token}")).status_code == 200
    assert (await stream.relay()).status_code == 403
    assert (await stream.page.delete(f"/api/runs/{stream.token}")).status_code == 404


async def test_who_waits_in_a_run_that_ends_is_sent_away_and_has_withdrawn(stream: Stream, tmp_path: Path) -> None:
    await stream.relay()
    desk = stream.served.hub.desk
    [ask] = await desk.asks()
    file = tmp_path / "state" / "runs" / f"{stream.token}.json"
    heard_of = file.stat().st_mtime_ns
    held = asyncio.create_task(stream.poll(wait=60))
    while file.stat().st_mtime_ns == heard_of:
        await asyncio.sleep(0.01)

    assert (await stream.page.delete(f"/api/runs/{stream.token}")).status_code == 200

    assert (await held).status_code == 403
    async with desk.follow(0) as follower:
        while (settlement := (await desk.ask(ask.id)).settlement) is None:
            await anext(follower)
    assert isinstance(settlement, Withdrawn)
    assert settlement.reason == "the agent is gone"


async def test_the_relay_of_a_run_that_ends_is_hung_up_on(stream: Stream) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(stream.served.base.rpartition(":")[2]))
    headers = {
        "Host": "localhost",
        "Transfer-Encoding": "chunked",
        "Handraise-Conversation": "a" * 32,
        "Handraise-Stream": stream.token,
        "Handraise-Project": stream.project.encode().hex(),
    }
    writer.write(http.request_head("POST", "/mcp/lines", headers))
    # Pieces end anywhere: in the middle of a line, or after the start of the next.
    for piece in (
        b'{"jsonrpc": "2.0", ',
        b'"id": 1, "method": ',
        b'"ping"}\n\n{"jsonrpc": "2.0", "id": 2,',
        b' "method": "ping"}\n',
    ):
        writer.write(http.chunk(piece))
        await writer.drain()
    for number in (b"1", b"2"):
        await reader.readuntil(b'"id":%s' % number)

    assert (await stream.page.delete(f"/api/runs/{stream.token}")).status_code == 200

    await reader.readuntil(http.LAST_CHUNK)
    writer.close()


async def test_an_answer_outlives_the_hub(tmp_path: Path) -> None:
    async with opened(tmp_path) as first:
        ask = (await first.relay()).json()["askId"]
        await first.submit(answer="kept")
        token, project = first.token, first.project
    async with (
        serving(ServeConfig(tmp_path / "state", Path("/bin/false"), {}, port=0)) as served,
        httpx2.AsyncClient(base_url=served.base, verify=PLAIN) as server,
    ):
        polled = await server.get("/claude/poll-answer", params={"p": project, "streamToken": token})
    assert polled.json() == {"status": "answered", "answer": "kept", "selectedOptions": [], "askId": ask}
