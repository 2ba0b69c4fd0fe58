"""Our own tool, `ask_user`, on our side of Claude's pipe: for the stories in which Claude asks with it."""

from handraise.wire import mcp
from handraise.wire.frames import ControlRequest, McpMessage
from stories.bed import Bed, BedTalk

NAME = "mcp__handraise__ask_user"
ASK_USER = {
    "name": "ask_user",
    "description": "Asks a person",
    "inputSchema": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
}


class OwnTool:
    """Offers `ask_user` and waits for its calls."""

    def __init__(self, talk: BedTalk) -> None:
        self.talk = talk

    async def until_called(self) -> tuple[str, mcp.CallTool]:
        """Answers as a server until the tool is called."""
        while True:
            request_id, message = await self.next()
            match message:
                case mcp.Initialize():
                    await self.reply(request_id, mcp.initialized(message, "handraise", "1"))
                case mcp.ListTools():
                    await self.reply(request_id, mcp.tools(message, [ASK_USER]))
                case mcp.Notification():
                    await self.reply(request_id, mcp.acknowledgement())
                case mcp.CallTool():
                    return request_id, message
                case _:
                    raise AssertionError(message)

    async def next(self) -> tuple[str, mcp.Message]:
        asked = await self.talk.until(ControlRequest)
        assert isinstance(asked.request, McpMessage), asked
        return asked.request_id, mcp.read(asked.request.message)

    async def reply(self, request_id: str, reply: dict[str, object]) -> None:
        await self.talk.claude.write(self.talk.wire.send_mcp(request_id, reply))


async def talk(bed: Bed, script: str) -> OwnTool:
    """Claude with the tool."""
    server = {"type": "sdk", "name": "handraise", "alwaysLoad": True}
    return OwnTool(await bed.talk(script, mcp_servers={"handraise": server}, allowed_tools=(NAME,)))


async def start(bed: Bed, script: str) -> OwnTool:
    """A running Claude, with the tool."""
    tool = await talk(bed, script)
    await tool.talk.say("Begin.")
    return tool
