"""A program that runs Claude as editors do: headless, with dialogs of its own."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionMode,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    ToolPermissionContext,
)

from handraise.claude.locate import locate

DEADLINE = 60.0

Decision = PermissionResultAllow | PermissionResultDeny


class EditorDialog:
    """A dialog in the editor: open until someone answers it there, or Claude closes it."""

    def __init__(self, tool: str, tool_input: dict[str, Any]) -> None:
        self.tool = tool
        self.input = tool_input
        self.decision: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._gone = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return not self._gone.is_set()

    def allow(self, **changed: Any) -> None:
        self.decision.set_result(PermissionResultAllow(updated_input={**self.input, **changed}))

    def deny(self, message: str) -> None:
        self.decision.set_result(PermissionResultDeny(message=message))

    async def shown(self) -> Decision:
        try:
            return await self.decision
        finally:
            self._gone.set()

    async def closed(self) -> None:
        async with asyncio.timeout(DEADLINE):
            await self._gone.wait()


class SdkEditor:
    """The program, once it takes messages."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        options.can_use_tool = self._ask
        self.client = ClaudeSDKClient(options)
        self._dialogs: asyncio.Queue[EditorDialog] = asyncio.Queue()

    async def say(self, text: str) -> None:
        await self.client.query(text)

    async def dialog(self) -> EditorDialog:
        """The next dialog that opens."""
        async with asyncio.timeout(DEADLINE):
            return await self._dialogs.get()

    async def until_done(self) -> None:
        """Until the turn is over."""
        async with asyncio.timeout(DEADLINE):
            async for message in self.client.receive_response():
                if isinstance(message, ResultMessage):
                    return
        raise AssertionError("the editor's Claude exited")

    async def _ask(self, tool: str, tool_input: dict[str, Any], _: ToolPermissionContext) -> Decision:
        dialog = EditorDialog(tool, tool_input)
        self._dialogs.put_nowait(dialog)
        return await dialog.shown()


@asynccontextmanager
async def in_editor(
    work: Path, environment: Mapping[str, str], mode: PermissionMode = "default"
) -> AsyncIterator[SdkEditor]:
    """Claude in an editor. It reads the same settings as in a terminal."""
    options = ClaudeAgentOptions(cwd=str(work), env=dict(environment), permission_mode=mode, cli_path=str(locate()))
    editor = SdkEditor(options)
    async with editor.client:
        yield editor
