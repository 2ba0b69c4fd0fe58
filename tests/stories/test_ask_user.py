"""Stories: Claude asks with our own tool, over the same pipe."""

from collections.abc import AsyncIterator

import pytest

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.wire import mcp
from handraise.wire.connection import WasCancelled
from handraise.wire.frames import Init, Result
from stories import own_tool
from stories.bed import Bed, answered, parts
from stories.own_tool import OwnTool


def ask(conversation: Conversation) -> Script:
    conversation = yield [use("mcp__handraise__ask_user", question="Which database?")]
    yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]


@pytest.fixture(scope="module")
async def bed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bed]:
    async with Bed(tmp_path_factory.mktemp("bed"), script=parts(ask=ask)) as bed:
        yield bed


@pytest.fixture
async def tool(bed: Bed) -> OwnTool:
    return await own_tool.talk(bed, "script")


async def test_ask_user_is_answered_over_the_pipe(tool: OwnTool) -> None:
    await tool.talk.say("ask")
    request_id, call = await tool.until_called()
    assert (call.name, call.arguments) == ("ask_user", {"question": "Which database?"})
    assert call.tool_use_id is not None
    assert call.tool_use_id.encode() in tool.talk.claude.folder.journal.read_bytes()
    await tool.reply(request_id, mcp.tool_result(call.id, "SQLite, said Robin"))

    assert answered(await tool.talk.until(Result)) == "False: SQLite, said Robin"
    began = next(frame for frame in tool.talk.heard if isinstance(frame, Init))
    assert [(each["name"], each["status"]) for each in began.mcp_servers] == [("handraise", "connected")]
    assert "mcp__handraise__ask_user" in began.tools


async def test_nobody_answers_ask_user_and_claude_reads_that_as_an_error(tool: OwnTool) -> None:
    await tool.talk.say("ask")
    request_id, call = await tool.until_called()
    await tool.reply(request_id, mcp.tool_result(call.id, "Nobody answered.", is_error=True))

    assert answered(await tool.talk.until(Result)) == "True: Nobody answered."


async def test_ask_user_is_withdrawn_when_the_turn_is_interrupted(tool: OwnTool) -> None:
    await tool.talk.say("ask")
    called, call = await tool.until_called()
    await tool.talk.want("interrupt")

    # The call itself is not cancelled on the control channel: the news comes as JSON-RPC.
    request_id, message = await tool.next()
    assert message == mcp.Cancelled(call.id)
    tool.talk.wire.receive_cancel(called)
    await tool.reply(request_id, mcp.acknowledgement())
    with pytest.raises(WasCancelled):
        tool.talk.wire.send_mcp(called, mcp.tool_result(call.id, "too late"))
    assert (await tool.talk.until(Result)).is_error
    assert not tool.talk.wire.open_requests

    await tool.talk.say("Go on.")
    assert answered(await tool.talk.until(Result)).startswith("True: ")


async def test_what_we_do_not_have_is_refused_and_the_tool_fails_with_the_reason(tool: OwnTool) -> None:
    await tool.talk.say("ask")
    request_id, call = await tool.until_called()
    await tool.reply(request_id, mcp.error(call.id, mcp.INVALID_PARAMS, "a question has at most 400 letters"))

    assert "a question has at most 400 letters" in answered(await tool.talk.until(Result))
