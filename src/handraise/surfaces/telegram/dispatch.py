"""Sends each update to where it belongs: a press or reply to its card, everything else to the session side."""

import asyncio
import logging
from datetime import UTC, datetime

from msgspec import Struct

from handraise.present.headlines import without_marks
from handraise.surfaces.telegram.bot_types import (
    BotMessage,
    CallbackQuery,
    ChatMemberUpdated,
    GenerationStopped,
    Update,
)
from handraise.surfaces.telegram.buttons import BoundButton
from handraise.surfaces.telegram.card_answers import CardAnswers, Reaction
from handraise.surfaces.telegram.card_board import CardBoard
from handraise.surfaces.telegram.incoming import IncomingFile, IncomingMessage, IncomingPress
from handraise.surfaces.telegram.keyed_locks import KeyedLocks
from handraise.surfaces.telegram.layout import marked
from handraise.surfaces.telegram.ledger import Ledger, LedgerLost
from handraise.surfaces.telegram.outbox import Outbox
from handraise.surfaces.telegram.outgoing import ChatPlace, SendText
from handraise.surfaces.telegram.people import Member, People
from handraise.surfaces.telegram.reach import Reach
from handraise.surfaces.telegram.session_side import SessionSide
from handraise.texts import t

PATIENCE = 1.0
"""Seconds in which a press gets its real answer; after that it is acknowledged without one."""
MOST_UNFINISHED = 500
_PRESENT = ("member", "administrator", "creator", "restricted")
_MOST_STRANGERS = 1000

log = logging.getLogger("handraise.telegram")


class UpdateDispatch:
    """Updates of one chat are handled one after another, presses at once."""

    def __init__(
        self,
        people: People,
        ledger: Ledger,
        reach: Reach,
        board: CardBoard,
        answers: CardAnswers,
        side: SessionSide,
        outbox: Outbox,
    ) -> None:
        self._bot_name = ""
        self._is_named = asyncio.Event()
        self._people = people
        self._ledger = ledger
        self._reach = reach
        self._board = board
        self._answers = answers
        self._side = side
        self._outbox = outbox
        self._turns = KeyedLocks()
        self._room = asyncio.Semaphore(MOST_UNFINISHED)
        self._tasks: set[asyncio.Task[None]] = set()
        self._strangers: set[int] = set()

    def call(self, bot_name: str) -> None:
        """The bot's name, as soon as Telegram told it: a command for another bot isn't for this one."""
        self._bot_name = bot_name
        self._is_named.set()

    async def handle(self, update: Update, *, is_begun: bool = False) -> None:
        """Returns when it was taken up; waits only if far too much is unfinished."""
        await self._room.acquire()
        task = asyncio.create_task(self._handle(update, is_begun))
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    async def close(self) -> None:
        """What isn't finished is handled after the next start."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.release()

    async def _handle(self, update: Update, is_begun: bool) -> None:
        try:
            if update.callback_query is not None:
                await self._press(update.update_id, update.callback_query)
            else:
                await self._in_turn(update, is_begun)
        except Exception:  # outer boundary: one update must not affect others
            log.exception("an update could not be handled", extra={"update": update.update_id})
        try:
            await self._ledger.finish(update.update_id)
        except LedgerLost as error:
            log.warning("an update may be handled again: %s", error)

    async def _in_turn(self, update: Update, is_begun: bool) -> None:
        if update.message is not None:
            chat, handling = update.message.chat.id, self._message(update, update.message, is_begun)
        elif update.my_chat_member is not None:
            chat, handling = update.my_chat_member.chat.id, self._membership(update.my_chat_member)
        elif update.stopped_message_generation is not None:
            stopped = update.stopped_message_generation
            chat, handling = stopped.chat.id, self._stopped(stopped)
        else:
            return
        async with self._turns.hold(chat):
            await handling

    async def _press(self, update: int, query: CallbackQuery) -> None:
        reacting = asyncio.ensure_future(self._react_safely(update, query))
        try:
            done, _ = await asyncio.wait((reacting,), timeout=PATIENCE)
            if not done:
                await self._acknowledge(query.id, Reaction(t("telegram.press.received")))
            reaction = await reacting
        finally:
            reacting.cancel()
        if done:
            await self._acknowledge(query.id, reaction)
        elif reaction.alert and query.message is not None:
            await self._say(_place(query.message), reaction.text, query.message.message_id)

    async def _react_safely(self, update: int, query: CallbackQuery) -> Reaction:
        try:
            return await self._react(update, query)
        except Exception:  # outer boundary: the person must not believe that it worked
            log.exception("a press could not be handled")
            return Reaction(t("telegram.press.failed"), alert=True)

    async def _acknowledge(self, callback: str, reaction: Reaction) -> None:
        await self._outbox.answer(callback, without_marks(reaction.text), alert=reaction.alert)

    async def _react(self, update: int, query: CallbackQuery) -> Reaction:
        member = self._people.member(query.from_.id)
        if member is None:
            return Reaction(t("telegram.press.stranger"), alert=True)
        button = await self._ledger.button(query.data)
        if button is None or query.message is None:
            return Reaction(t("telegram.press.unknown"))
        self._reach.regain(query.message.chat.id)
        if not self._is_theirs(button, member, query.message):
            return Reaction(t("telegram.press.foreign"), alert=True)
        if button.ask:
            return await self._answers.press(member, button, query.message.message_id)
        is_moved = query.message.chat.id != button.place.chat
        place = self._people.now_at(button.place) if is_moved else button.place
        press = IncomingPress(update, place, query.message.message_id, button.act, button.argument)
        return Reaction(await self._side.press(member, press))

    def _is_theirs(self, button: BoundButton, member: Member, message: BotMessage) -> bool:
        """Whether the press came from where the button was sent, and from whom it was sent to."""
        chats = (button.place.chat, self._people.now_at(button.place).chat)
        return message.chat.id in chats and button.member in (None, member.number)

    async def _message(self, update: Update, message: BotMessage, is_begun: bool) -> None:
        if message.migrate_to_chat_id is not None:
            if self._people.uses(message.chat.id):
                await self._board.move(ChatPlace(message.chat.id), ChatPlace(message.migrate_to_chat_id))
            return
        sender = message.from_
        if sender is None or sender.is_bot or message.sender_chat is not None:
            return
        member = self._people.member(sender.id)
        if member is None:
            await self._greet_stranger(message, sender.id)
            return
        await self._meet(member, message)
        if self._people.knows(_place(message), member):
            await self._of_member(update.update_id, member, message, is_begun)

    async def _greet_stranger(self, message: BotMessage, number: int) -> None:
        """Tells them their number, which whoever runs the hub needs to let them in; once."""
        is_start = message.chat.private and message.text.startswith("/start")
        if is_start and number not in self._strangers and len(self._strangers) < _MOST_STRANGERS:
            self._strangers.add(number)
            await self._say(ChatPlace(message.chat.id), t("telegram.error.stranger", number=number), None)

    async def _meet(self, member: Member, message: BotMessage) -> None:
        self._reach.regain(message.chat.id)
        if message.chat.private and self._people.private.get(member.number) != message.chat.id:
            await self._ledger.save_private_chat(member.number, message.chat.id)
            self._people.private[member.number] = message.chat.id
            await self._board.spread()

    async def _of_member(self, update: int, member: Member, message: BotMessage, is_begun: bool) -> None:
        incoming = read_message(update, message)
        card = await self._ledger.card_at(message.chat.id, incoming.reply_to) if incoming.reply_to else None
        command = read_command(incoming.text)
        if command is not None and command.addressee:
            await self._is_named.wait()
        if card is not None and not self._is_our_command(command):
            reaction = await self._answers.reply(member, *card, incoming.text, incoming.number)
            await self._say(incoming.place, reaction.text, incoming.number)
        elif command is not None and not self._is_addressed(command):
            return
        elif is_begun:
            await self._side.interrupted(member, incoming)
        else:
            await self._ledger.begin(update)
            if command is None:
                await self._side.message(member, incoming)
            else:
                await self._side.command(member, incoming, command.name, command.rest)

    def _is_our_command(self, command: "WrittenCommand | None") -> bool:
        """Other words with a slash are text: a reply may be a path."""
        known = {name for name, _ in self._side.commands}
        return command is not None and self._is_addressed(command) and command.name in known

    def _is_addressed(self, command: "WrittenCommand") -> bool:
        return command.addressee in ("", self._bot_name.lower())

    async def _membership(self, change: ChatMemberUpdated) -> None:
        if change.new_chat_member.status in _PRESENT:
            self._reach.regain(change.chat.id)
        elif self._people.uses(change.chat.id):
            self._reach.lose(change.chat.id, change.new_chat_member.status)

    async def _stopped(self, stopped: GenerationStopped) -> None:
        member = self._people.member(stopped.chat.id)
        if member is not None:
            place = ChatPlace(stopped.chat.id, stopped.message_thread_id)
            await self._side.stopped(member, place, stopped.draft_id)

    async def _say(self, place: ChatPlace, text: str, reply_to: int | None) -> None:
        if text:
            self._outbox.put(SendText(place, marked(text), reply_to=reply_to), priority="reply", follows=True)


def read_message(update: int, message: BotMessage) -> IncomingMessage:
    """A message as the session side gets it."""
    place = _place(message)
    replied = message.reply_to_message.message_id if message.reply_to_message else None
    attachment = message.attachment
    files = (
        (
            IncomingFile(
                attachment.file_id,
                attachment.file_name,
                attachment.mime_type,
                attachment.file_size,
                photo=bool(message.photo),
            ),
        )
        if attachment
        else ()
    )
    return IncomingMessage(
        update,
        message.message_id,
        place,
        datetime.fromtimestamp(message.date, UTC),
        message.text or message.caption,
        files,
        # In a topic, everything that isn't a reply refers to the message that opened it.
        None if replied == place.topic else replied,
        message.media_group_id,
        message.chat.private,
        message.chat.is_forum,
    )


class WrittenCommand(Struct, frozen=True):
    """A command as it was written: `/new@my_bot fix it`. In a group it may be for another bot."""

    name: str
    rest: str
    addressee: str = ""


def read_command(text: str) -> WrittenCommand | None:
    """The command and what follows it; None if it is none."""
    if not text.startswith("/") or len(text) < 2:
        return None
    first, _, rest = text.partition(" ") if " " in text.split("\n")[0] else text.partition("\n")
    name, _, addressee = first[1:].partition("@")
    if not name.replace("_", "").isalnum() or not name.isascii():
        return None
    return WrittenCommand(name.lower(), rest.strip(), addressee.lower())


def _place(message: BotMessage) -> ChatPlace:
    return ChatPlace(message.chat.id, message.topic)
