"""The bot: everything about Telegram, while it is entered. Whatever fails here, the hub runs on."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec import Struct

from handraise.desk.gate import NotificationGate
from handraise.desk.interface import Desk, Refused
from handraise.model.actors import Person
from handraise.surfaces.telegram.bot_types import Update
from handraise.surfaces.telegram.buttons import BoundButton
from handraise.surfaces.telegram.card_answers import CardAnswers
from handraise.surfaces.telegram.card_board import CardBoard
from handraise.surfaces.telegram.card_sender import new_id
from handraise.surfaces.telegram.client import DEADLINE, BotClient, BotError
from handraise.surfaces.telegram.dispatch import UpdateDispatch
from handraise.surfaces.telegram.feed_readers import AskReader, SessionReader
from handraise.surfaces.telegram.ledger import Ledger, LedgerContents, LedgerLost
from handraise.surfaces.telegram.outbox import Outbox
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, People, TelegramConfig
from handraise.surfaces.telegram.poller import UpdatePoller
from handraise.surfaces.telegram.reach import Reach
from handraise.surfaces.telegram.session_side import SessionSideFactory, SessionTools
from handraise.texts import t

SOURCE = "telegram"
_FILE = f"{SOURCE}.db"
_RETRY = 30.0
_PRUNE_EVERY = 24 * 3600.0

log = logging.getLogger("handraise.telegram")


class ChatTrouble(Struct, frozen=True):
    """A chat that the bot can't write to, and Telegram's reason."""

    chat: int
    reason: str


class TelegramStatus(Struct, frozen=True):
    """How the bot is. `trouble` is a sentence, empty if all is well."""

    bot: str
    """Its user name; empty until Telegram told it."""
    trouble: str = ""
    chats: tuple[ChatTrouble, ...] = ()
    waiting: int = 0
    """How many messages wait to be sent."""
    is_elsewhere: bool = False
    """Whether it waits because another hub runs the bot."""


class TelegramBot:
    """Entered with `async with`, inside the hub's. `folder` is its own; `links` is the address of the page.

    `second` is how long a second of waiting takes, `deadline` how many seconds a call may take; shorter in tests.
    """

    def __init__(
        self,
        desk_for: Callable[[Person], Desk],
        config: TelegramConfig,
        folder: Path,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        links: str,
        side: SessionSideFactory,
        *,
        second: float = 1.0,
        deadline: float = DEADLINE,
        machine: str = "",
        shared: bool = False,
        gate: NotificationGate | None = None,
    ) -> None:
        """`machine` is where the hub runs; `shared`: sessions may run elsewhere, and their files aren't here."""
        self._machine = machine
        self._shared = shared
        self._desk_for = desk_for
        self._config = config
        self._clock = clock
        self._entropy = entropy
        self._links = links
        self._make_side = side
        self._second = second
        self._name = ""
        self._trouble = ""
        self._people = People(config)
        self._reach = Reach()
        self._reading = desk_for(Person("handraise"))
        self._ledger = Ledger(folder / _FILE, clock)
        self._client = BotClient(config.token, config.api, deadline=deadline)
        self._outbox = Outbox(self._client, second=second)
        self._board = CardBoard(
            self._reading, self._ledger, self._outbox, self._people, self._reach, clock, entropy, links, second, gate
        )
        self._outbox.arrived = lambda chat, message: self._board.movements.note(chat, message, clock())
        self._poller: UpdatePoller | None = None
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        try:
            await self._stack.enter_async_context(self._ledger)
            await self._start(await self._ledger.load())
        except LedgerLost as error:
            log.error("%s", error)  # noqa: TRY400 (the hub goes on without it)
            self._trouble = t("telegram.error.ledger")
            await self._stop()
        except Exception:  # outer boundary: the hub goes on without it
            log.exception("the Telegram bot could not start")
            self._trouble = t("telegram.error.start")
            await self._stop()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    def status(self) -> TelegramStatus:
        trouble = self._trouble or (self._poller.trouble if self._poller else "")
        chats = tuple(ChatTrouble(chat, reason) for chat, reason in self._reach.lost.items())
        return TelegramStatus(self._name, trouble, chats, self._outbox.waiting)

    async def _start(self, contents: LedgerContents) -> None:
        self._people.private.update(contents.private)
        self._people.moved.update(contents.moved)
        await self._stack.enter_async_context(self._client)
        await self._stack.enter_async_context(self._outbox)
        await self._stack.enter_async_context(self._board)
        side = await self._stack.enter_async_context(self._make_side(self._tools()))
        self._board.place_of = side.place_of
        answers = CardAnswers(self._board, self._reading, self._desk_of, self._clock)
        dispatch = UpdateDispatch(self._people, self._ledger, self._reach, self._board, answers, side, self._outbox)
        self._stack.push_async_callback(dispatch.close)
        sessions = SessionReader(self._reading, side, self._ledger, contents.cursor, watches=self._shared)
        self._stack.push_async_callback(self._save, sessions)
        self._poller = UpdatePoller(
            self._client, self._ledger, contents.offset, contents.recent, dispatch.handle, self._second
        )
        await self._board.restore(contents.deliveries)
        for each in contents.unfinished:
            await dispatch.handle(msgspec.json.decode(each.content, type=Update), is_begun=each.is_begun)
        for loop in (AskReader(self._reading, self._board).run(), sessions.run(), self._poller.run()):
            self._run(loop)
        self._run(self._introduce(dispatch, side.commands))
        self._run(self._prune())

    def _run(self, loop: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(loop))

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stack.aclose()

    @staticmethod
    async def _save(sessions: SessionReader) -> None:
        """At the end. What isn't saved is read again after the next start."""
        try:
            await sessions.save()
        except LedgerLost as error:
            log.warning("%s", error)

    def _tools(self) -> SessionTools:
        return SessionTools(
            self._reading,
            self._desk_of,
            self._people,
            self._reach,
            self._outbox,
            self._ledger,
            self._bind,
            self._board.show_again,
            self._download,
            self._clock,
            self._entropy,
            self._links,
            self._config.session_topics,
            self._machine,
        )

    def _desk_of(self, member: Member) -> Desk:
        return self._desk_for(member.person)

    async def _bind(self, place: ChatPlace, act: str, argument: str) -> str:
        reader = self._people.reader(place)
        button = BoundButton("", "", place, reader.number if reader else None, 0, act, argument)
        (known,) = await self._ledger.same_buttons([button])
        if known is not None:
            return known
        name = new_id(self._entropy)
        await self._ledger.save_buttons([(name, button)])
        return name

    async def _download(self, file: str) -> bytes:
        try:
            return await self._client.download(file)
        except BotError as error:
            raise Refused(t("telegram.error.download")) from error

    async def _introduce(self, dispatch: UpdateDispatch, commands: tuple[tuple[str, str], ...]) -> None:
        """Learns the bot's name, and tells Telegram its commands."""
        listed = [{"command": name, "description": description} for name, description in commands]
        while True:
            try:
                self._name = (await self._client.me()).username
                dispatch.call(self._name)
                await self._client.call("setMyCommands", {"commands": listed})
            except BotError:
                await asyncio.sleep(_RETRY * self._second)
            else:
                return

    async def _prune(self) -> None:
        while True:
            try:
                await self._ledger.prune()
            except LedgerLost as error:
                log.warning("%s", error)
            await asyncio.sleep(_PRUNE_EVERY)
