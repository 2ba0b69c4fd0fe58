"""Sessions on Telegram: what people write, command and press, and what the feed says about their sessions."""

from types import TracebackType
from typing import Self

from handraise.desk.interface import DeskError
from handraise.model.items import Item, Preview
from handraise.surfaces.telegram import commands
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.incoming import IncomingMessage, IncomingPress
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member
from handraise.surfaces.telegram.session_acts import SessionActs, check_role
from handraise.surfaces.telegram.session_commands import SessionCommands
from handraise.surfaces.telegram.session_presses import SessionPresses
from handraise.surfaces.telegram.session_side import SessionTools
from handraise.surfaces.telegram.session_views import SessionViews


class TelegramSessions:
    """See `SessionSide`. `beat` is how often progress is looked at, in seconds."""

    def __init__(self, tools: SessionTools, *, beat: float = 1.0) -> None:
        self.commands = commands.menu()
        self._views = SessionViews(tools, beat)
        self._acts = SessionActs(tools, self._views)
        self._commands = SessionCommands(self._acts)
        self._presses = SessionPresses(self._acts)

    async def __aenter__(self) -> Self:
        await self._views.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._views.__aexit__(kind, error, trace)

    def place_of(self, session: str) -> ChatPlace | None:
        """The session's own topic, if it has one: its cards belong there, too."""
        return next((view.place for view in self._views.of(session) if view.record.detail.topic), None)

    async def item(self, item: Item) -> None:
        self._views.item(item)

    def shown(self) -> frozenset[str]:
        return frozenset(view.session for view in self._views if view.progress.is_open)

    async def preview(self, preview: Preview) -> None:
        self._views.preview(preview)

    async def missed(self) -> None:
        await self._views.read_again()

    async def message(self, member: Member, message: IncomingMessage) -> None:
        with self._acts.sentences(message):
            await self._acts.receive(member, message, again=False)

    async def command(self, member: Member, message: IncomingMessage, command: str, rest: str) -> None:
        with self._acts.sentences(message):
            await self._commands.run(member, message, command, rest)

    async def interrupted(self, member: Member, message: IncomingMessage) -> None:
        """Messages have an ID, so that they are received once; only a start must be looked for."""
        line = commands.parse(message.text)
        with self._acts.sentences(message):
            if line is None:
                await self._acts.receive(member, message, again=True)
            elif line.name == "new":
                await self._commands.new(member, message, line.rest, again=True)
            elif line.name != "resume" or not await self._acts.is_alive(message):
                await self._commands.run(member, message, line.name, line.rest)

    async def press(self, member: Member, press: IncomingPress) -> str:
        return await self._presses.press(member, press)

    async def stopped(self, member: Member, place: ChatPlace, draft: int) -> None:
        view = self._views.drafted(place, draft)
        if view is None:
            return
        try:
            check_role(member, "approver")
            await self._acts.interrupt(member, view.session)
        except DeskError as error:
            self._acts.send(place, Formatted(str(error)))
