"""Telegram as a surface of the suite: a real hub and its bot, a Bot API server on loopback, and a person's phone."""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path

from handraise.model.asks import Ask, Body, Form, Question
from handraise.present.choices import choices
from handraise.present.headlines import headline, without_marks
from handraise.present.outcomes import outcome
from handraise.serving.serve import RunningHub
from handraise.surfaces.telegram.bot import SOURCE, TelegramBot
from handraise.surfaces.telegram.people import Member, TelegramConfig
from handraise.surfaces.telegram.sessions import TelegramSessions
from handraise.texts import t
from surfaces.suite.cases import Gesture
from surfaces.suite.surface import ShownCard
from surfaces.suite.surface_hub import DEADLINE, SurfaceHub, quiet_config
from surfaces.telegram.bot_api import TOKEN, BotApi, bot_api
from surfaces.telegram.bots import PACE, SettableClock
from surfaces.telegram.chats import ShownMessage
from surfaces.telegram.people import Someone
from surfaces.telegram.rates import RateLimits

PLENTY = RateLimits(private_burst=1000, group_messages=1000, total_messages=1000)
SHORTER = {"session": "For this session", "always": "Always allow", "suggestion": "Claude's suggestion 1"}
"""Labels that fit on a phone. What exactly they mean is in the message, before it is confirmed."""
IN_WORDS = {
    "session": "Allow any npm test … for this session",
    "always": "Always allow any npm test … in this project",
    "suggestion": "Allow every command that starts with npm test until Claude's process ends",
}
CONFIRMED = frozenset({*SHORTER, "free", "exactly"})
"""What takes a second press."""


class TelegramSurface:
    """Ana's private chat with the bot. The bot's time stands still, except while she looks at a card."""

    person = "ana"
    source = "telegram"
    absent: Mapping[str, str] = dict.fromkeys(("permission: edit", "plan: edit"), "a phone's chat has no editor")
    differs: Mapping[str, str] = {"plan: revise, without a text": "Claude has to know what to change"}
    folded = frozenset(SHORTER)
    follows = frozenset({"late"})
    shows_all = True
    shows_again = True
    answers_late = False

    def __init__(self, hub: SurfaceHub, api: BotApi, ana: Someone, clock: SettableClock) -> None:
        self.hub = hub
        self.about_to_send: Callable[[], object] = bool
        self.presses = 1
        self._api = api
        self._ana = ana
        self._clock = clock
        self._cards: dict[str, ShownMessage] = {}
        self._toasts: dict[str, list[str]] = defaultdict(list)
        self._written: dict[str, list[ShownMessage]] = defaultdict(list)
        self._stale: dict[str, str] | None = None
        """The buttons that the phone still shows, by their labels."""
        self._outage: AbstractContextManager[None] | None = None

    async def shown(self, ask: Ask) -> ShownCard:
        message = self._cards.get(ask.id)
        if message is None:
            message = self._cards[ask.id] = await self._ana.private.until(lambda _: self._find(ask, is_open=True))
        return ShownCard(_flat(message.text), self._labels(message))

    async def act(self, ask: Ask, gesture: Gesture) -> None:
        match ask.body:
            case Question():
                await self._pick(ask, ask.body, gesture)
            case Form() if gesture.act == "fill":
                await self._fill(ask, ask.body, gesture)
            case _ if gesture.text:
                await self._press(ask, "Deny with a reason" if gesture.act == "deny" else _label(ask, gesture.act))
                await self._reply(ask, gesture.text)
            case _ if gesture.act in CONFIRMED:
                if not self._is_confirming(ask):
                    await self._press(ask, _label(ask, gesture.act))
                await self._until(ask, IN_WORDS.get(gesture.act, _label(ask, gesture.act)))
                await self._send(ask, "Confirm: ")
            case _:
                await self._send(ask, _label(ask, gesture.act))

    async def act_early(self, body: Body, gesture: Gesture) -> Ask:
        ask = await self.hub.open(body)
        await self.shown(ask)
        label = _label(ask, gesture.act)
        if gesture.act in CONFIRMED:
            await self._press(ask, label)
            label = await self._button(ask, "Confirm: ")
        toast = await self._ana.press(self._cards[ask.id], label).toast()
        assert toast == t("telegram.press.early")
        return ask

    async def says(self, ask: Ask, *words: str) -> str:
        """In the message, or to the one who pressed."""
        async with asyncio.timeout(DEADLINE):
            while any(word not in self._text(ask) for word in words):
                await asyncio.sleep(0.01)
        return self._text(ask)

    def own_outcome(self, ask: Ask) -> str:
        found = outcome(ask, "/work/app")
        assert found is not None
        return f"{without_marks(found.text)} (telegram)"

    async def offered(self, ask: Ask) -> tuple[str, ...]:
        message = self._cards.get(ask.id) or self._find(ask, is_open=True)
        if message is None:
            return ()
        await message.chat.until(lambda _: not message.buttons)
        return self._labels(message)

    @asynccontextmanager
    async def unaware(self) -> AsyncIterator[None]:
        """The phone still shows the buttons that were there."""
        keyboards = [row for message in self._cards.values() for row in message.keyboard]
        self._stale = {each["text"]: each["callback_data"] for row in keyboards for each in row if "url" not in each}
        try:
            yield
        finally:
            self._stale = None

    async def leave(self) -> None:
        self._outage = self._api.outage()
        self._outage.__enter__()

    async def come_back(self) -> None:
        assert self._outage is not None
        self._outage.__exit__(None, None, None)

    async def restart_hub(self) -> None:
        await self.hub.stop()
        await self.hub.start()

    async def clear(self) -> None:
        """Nobody else's card was left with buttons."""
        await self._ana.private.until(lambda messages: not any(each.buttons for each in messages if each.by_bot))

    async def _pick(self, ask: Ask, body: Question, gesture: Gesture) -> None:
        several = len(body.questions) > 1
        for prompt, choice in zip(body.questions, gesture.picks, strict=True):
            await self._until(ask, prompt.question)
            press = self._press if several or prompt.multi_select else self._send
            for label in choice.labels:
                await press(ask, label)
                if prompt.multi_select:
                    await self._button(ask, "✅", label)
            if choice.text is not None:
                if prompt.options:
                    await self._press(ask, "Other")
                await self._reply(ask, choice.text)
            if prompt.multi_select:
                if choice.text is not None:
                    await self._button(ask, "✅", "Other")
                await (self._press if several else self._send)(ask, "Done")
        if several:
            await self._send(ask, "Send")

    async def _fill(self, ask: Ask, body: Form, gesture: Gesture) -> None:
        await self._press(ask, "Fill in")
        for name, value in gesture.fields.items():
            field = body.schema["properties"][name]
            await self._until(ask, field["title"], field.get("description", ""))
            if value is True or "enum" in field:
                await self._press(ask, "Yes" if value is True else str(value))
            else:
                await self._reply(ask, str(value))
        await self._send(ask, "Send")

    async def _send(self, ask: Ask, label: str) -> None:
        self.about_to_send()
        await self._press(ask, label, self.presses)

    async def _press(self, ask: Ask, label: str, times: int = 1) -> None:
        """As someone who looks at it first, and once more if it has only just appeared."""
        message = self._cards[ask.id]
        for _ in range(10):
            self._clock.pass_by(5)
            data = await self._data(ask, label)
            toasts = [await each.toast() for each in [self._ana.press_data(message, data) for _ in range(times)]]
            # Of several presses one may have come too early, and the next counted: then there is nothing left to press.
            if any(each != t("telegram.press.early") for each in toasts):
                self._toasts[ask.id] += map(without_marks, toasts)
                return
        raise AssertionError(f"{label!r} never counted")

    async def _data(self, ask: Ask, label: str) -> str:
        """What a press on this button sends."""
        if self._stale:
            return next(data for each, data in self._stale.items() if label in each)
        return str(self._cards[ask.id].button(await self._button(ask, label))["callback_data"])

    async def _reply(self, ask: Ask, text: str) -> None:
        await self._until(ask, "Reply to this message")
        self.about_to_send()
        self._written[ask.id].append(self._ana.write(text, reply_to=self._cards[ask.id]))

    async def _button(self, ask: Ask, *parts: str) -> str:
        """The label with all of these in it, as soon as there is one."""
        message = self._cards[ask.id]

        def found(_: list[ShownMessage]) -> str | None:
            fitting = [each for each in message.buttons if all(part in each for part in parts)]
            return min(fitting, key=len, default=None)

        return await message.chat.until(found)

    async def _until(self, ask: Ask, *words: str) -> None:
        message = self._cards[ask.id]
        await message.chat.until(lambda _: all(word in _flat(message.text) for word in words))

    def _is_confirming(self, ask: Ask) -> bool:
        return any(each.startswith("Confirm: ") for each in self._cards[ask.id].buttons)

    def _find(self, ask: Ask, *, is_open: bool = False) -> ShownMessage | None:
        """Its message: the newest one with its question that no other ask has."""
        others = [each for name, each in self._cards.items() if name != ask.id]
        texts = [(each, _flat(each.text)) for each in reversed(self._ana.private.from_bot) if each not in others]
        if is_open:
            texts = [(each, text) for each, text in texts if each.buttons or "Reply to this message" in text]
        return next((each for each, text in texts if _question(ask) in text), None)

    def _labels(self, message: ShownMessage) -> tuple[str, ...]:
        """Without their ticks and numbers."""
        return tuple(each.removeprefix("⬜️ ").lstrip("0123456789").removeprefix(". ") for each in message.buttons)

    def _text(self, ask: Ask) -> str:
        message = self._cards.get(ask.id) or self._find(ask)
        replies = [each.text for each in self._ana.private.from_bot if each.reply_to in self._written[ask.id]]
        return " ".join([_flat(message.text) if message else "", *self._toasts[ask.id], *map(_flat, replies)])


def _question(ask: Ask) -> str:
    match ask.body:
        case Question(questions=(first, *_)):
            return first.question
        case Form(message=message):
            return message
        case _:
            return without_marks(headline(ask, "/work/app"))


def _label(ask: Ask, act: str) -> str:
    return SHORTER.get(act) or next(each.label for each in choices(ask) if each.act == act)


def _flat(text: str) -> str:
    return " ".join(without_marks(text).split())


@asynccontextmanager
async def telegram_surface(tmp: Path) -> AsyncIterator[TelegramSurface]:
    """While this is entered."""
    async with bot_api(limits=PLENTY) as api:
        ana, clock = api.someone(1001, "Ana"), SettableClock()
        config = TelegramConfig(TOKEN, (Member(1001, "ana", "admin"),), api=api.base)

        def bot(up: RunningHub) -> TelegramBot:
            desk, folder = up.hub.desk, tmp / "telegram"
            return TelegramBot(
                lambda person: desk.seat(person, SOURCE),
                config,
                folder,
                clock,
                os.urandom,
                up.base,
                TelegramSessions,
                second=1 / PACE,
            )

        ana.start()
        async with SurfaceHub(quiet_config(tmp, port=0), bot) as hub:
            yield TelegramSurface(hub, api, ana, clock)
