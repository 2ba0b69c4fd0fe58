"""Carries out what people press and reply on cards, and tells them the truth about it."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from handraise.desk.interface import Conflict, Desk, DeskError, NotFound, TooLate
from handraise.model.actors import is_me
from handraise.model.answers import Answer
from handraise.model.asks import Answered, Ask, Expired
from handraise.present.cards import card_of
from handraise.present.harmless import one_line
from handraise.present.outcomes import outcome
from handraise.surfaces.telegram import deliveries
from handraise.surfaces.telegram.buttons import BoundButton
from handraise.surfaces.telegram.card_board import CardBoard
from handraise.surfaces.telegram.card_sender import CardSender
from handraise.surfaces.telegram.conversation import Next, Outcome, SendAnswer, Toast, press, reply
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, needed_for
from handraise.texts import t

log = logging.getLogger("handraise.telegram")


class Reaction(Struct, frozen=True):
    """What a person is told; empty if the card says it all. An alert has to be dismissed."""

    text: str = ""
    alert: bool = False


class CardAnswers:
    """Acts for members, each with their own desk."""

    def __init__(
        self, board: CardBoard, reading: Desk, desk_of: Callable[[Member], Desk], clock: Callable[[], datetime]
    ) -> None:
        self._board = board
        self._reading = reading
        self._desk_of = desk_of
        self._clock = clock

    async def press(self, member: Member, button: BoundButton, message: int) -> Reaction:
        """A press on a card's button, in its own place."""
        found = await self._card(button.ask, button.place)
        if isinstance(found, Reaction):
            return found
        ask, sender = found
        async with sender.lock:
            await sender.find(message, button)
            if _is_another(ask, sender):
                return await _show_changed(ask, sender)
            if ask.digest != button.digest:
                return Reaction(t("telegram.press.changed"), alert=True)
            if not card_of(ask, sender.directory).choices and ask.settlement is not None:
                return Reaction(settled_words(member, ask, sender.directory), alert=True)
            now = sender.state.revision
            if not deliveries.still_counts(sender.delivery, button.revision, now, button.act, button.argument):
                sender.wake()
                return Reaction(t("telegram.press.stale"))
            result = press(
                ask,
                sender.directory,
                sender.state,
                button.act,
                button.argument,
                shown_at=sender.still_since(message),
                now=self._clock(),
                same_hand=sender.state.by in (0, member.number),
                lacks_files=sender.delivery.lacks_files,
            )
            return await self._carry_out(member, ask, sender, result)

    async def reply(self, member: Member, ask_id: str, place: ChatPlace, text: str, number: int) -> Reaction:
        """A reply to a card's message, by the number of its own."""
        found = await self._card(ask_id, place)
        if isinstance(found, Reaction):
            return found
        ask, sender = found
        async with sender.lock:
            if _is_another(ask, sender):
                return await _show_changed(ask, sender)
            if not card_of(ask, sender.directory).choices and ask.settlement is not None:
                return Reaction(settled_words(member, ask, sender.directory))
            if number <= sender.delivery.heard:
                return Reaction()
            if not text.strip():
                return Reaction(t("telegram.press.no_text"))
            lacks_files = sender.delivery.lacks_files
            result = reply(ask, sender.directory, sender.state, text, lacks_files=lacks_files)
            return await self._carry_out(member, ask, sender, result, number)

    async def _card(self, ask_id: str, place: ChatPlace) -> tuple[Ask, CardSender] | Reaction:
        try:
            ask = await self._reading.ask(ask_id)
        except NotFound:
            return Reaction(t("telegram.press.unknown"))
        sender = await self._board.sender(ask, place)
        if sender is None:
            return Reaction(t("telegram.press.unknown"))
        return ask, sender

    async def _carry_out(
        self, member: Member, ask: Ask, sender: CardSender, result: Outcome, heard: int = 0
    ) -> Reaction:
        match result:
            case Toast(sentence=sentence):
                sender.wake()
                return Reaction(sentence)
            case _ if not member.may("approver"):
                return Reaction(t(f"error.role.{member.role}", needed="approver"), alert=True)
            case Next(state=state, sentence=sentence):
                await sender.advance(replace(state, by=member.number), heard)
                return Reaction(sentence)
            case SendAnswer(answer=answer):
                return await self._answer(member, ask, sender, answer)
            case _:
                assert_never(result)

    async def _answer(self, member: Member, ask: Ask, sender: CardSender, answer: Answer) -> Reaction:
        needed = needed_for(answer)
        if not member.may(needed):
            return Reaction(t(f"error.role.{member.role}", needed=needed), alert=True)
        try:
            accepted = await self._desk_of(member).answer(ask.id, answer, ask.digest)
        except (Conflict, TooLate) as error:
            if _is_another(error.ask, sender):
                return await _show_changed(error.ask, sender)
            await self._board.refresh(error.ask)
            return Reaction(str(error), alert=True)
        except DeskError as error:
            sender.wake()
            return Reaction(str(error), alert=True)
        except Exception:  # outer boundary: whatever it was, the person must not believe that it worked
            log.exception("an answer failed", extra={"ask": ask.id})
            return Reaction(t("telegram.press.failed"), alert=True)
        await self._board.refresh(accepted.ask)
        return Reaction(settled_words(member, accepted.ask, sender.directory))


def _is_another(ask: Ask, sender: CardSender) -> bool:
    """Whether the card shows something else under the same id."""
    return sender.ask is not None and sender.ask.digest != ask.digest


async def _show_changed(ask: Ask, sender: CardSender) -> Reaction:
    await sender.start_over(ask)
    return Reaction(t("telegram.press.changed"), alert=True)


def settled_words(member: Member, ask: Ask, directory: str | None) -> str:
    """How an ask was settled, with who and from where unless it was this member here; empty while it is open."""
    settled, answered = outcome(ask, directory), _answered(ask)
    if settled is None or answered is None:
        return settled.text if settled else ""
    if is_me(answered.by, member.person):
        return settled.yours
    return t("telegram.press.answered", outcome=settled.text, source=one_line(answered.source))


def _answered(ask: Ask) -> Answered | None:
    match ask.settlement:
        case Answered() as answered:
            return answered
        case Expired(late=late):
            return late
        case _:
            return None
