"""Shared by the tests of sessions on Telegram: a hub's store and feed, desks that note what they are asked to do, and
an outbox that answers as Telegram would."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from desk.hubs import put_session, quiet_hub
from handraise.desk.interface import DeskError, Refused, SessionSummary, Words
from handraise.hub.desk import LocalDesk
from handraise.hub.hub import Hub
from handraise.model.actors import Person
from handraise.model.items import Content, Preview, Said, SessionEnded, Text, TurnEnded, TurnStarted
from handraise.model.projects import Options
from handraise.model.sessions import Ended, Say
from handraise.session import records
from handraise.session.titles import text_of
from handraise.store.changes import PublishItems
from handraise.surfaces.telegram.commands import parse
from handraise.surfaces.telegram.incoming import IncomingFile, IncomingMessage, IncomingPress
from handraise.surfaces.telegram.outgoing import (
    ChatPlace,
    CreateTopic,
    EditText,
    Outgoing,
    SendDraft,
    SendFile,
    SendResult,
    SendText,
    Sent,
)
from handraise.surfaces.telegram.people import Member, People, TelegramConfig
from handraise.surfaces.telegram.reach import Reach
from handraise.surfaces.telegram.session_side import SessionLink, SessionTools
from handraise.surfaces.telegram.sessions import TelegramSessions
from surfaces.telegram.chats import DEADLINE

ANA = Member(1001, "ana", "admin")
BO = Member(1002, "bo", "approver")
CY = Member(1003, "cy", "viewer")
PRIVATE = ChatPlace(1001)
GROUP = ChatPlace(-100200)
SHOP = ChatPlace(-100300, 17)
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BEAT = 0.002


class ScriptedOutbox:
    """Everything arrives at once, unless a test says otherwise. `put` is checked in the order of the tests' eyes."""

    def __init__(self) -> None:
        self.sent: list[Outgoing] = []
        self.numbers = count(500)
        self.topics = count(900)
        self.answers: list[tuple[type[Outgoing], SendResult]] = []
        """What the next one of a kind gets instead."""
        self.held: list[tuple[Outgoing, asyncio.Future[SendResult]]] = []
        self.hold: type[Outgoing] | None = None
        self._changed = asyncio.Condition()
        self._notifications: set[asyncio.Task[None]] = set()

    def put(
        self, outgoing: Outgoing, *, priority: str, key: str = "", follows: bool = False
    ) -> asyncio.Future[SendResult]:
        assert priority in ("card", "reply", "progress")
        assert not key or isinstance(outgoing, EditText | SendDraft)
        future: asyncio.Future[SendResult] = asyncio.get_running_loop().create_future()
        if self.hold is not None and isinstance(outgoing, self.hold):
            self.held.append((outgoing, future))
        else:
            self._arrive(outgoing, future)
        self.notify()
        return future

    def withdraw(self, future: asyncio.Future[SendResult]) -> bool:
        for each in self.held:
            if each[1] is future:
                self.held.remove(each)
                future.cancel()
                return True
        return False

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.sent if isinstance(each, kind)]

    @property
    def texts(self) -> list[str]:
        """The new messages, without progress."""
        return [each.content.text for each in self.of(SendText) if not each.silent or "Stopped" in each.content.text]

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(DEADLINE), self._changed:
            await self._changed.wait_for(holds)

    async def message(self, text: str) -> SendText:
        """The newest message that contains this."""
        await self.until(lambda: self._with(text))
        return self._with(text)[-1]

    def _with(self, text: str) -> list[SendText]:
        return [each for each in self.of(SendText) if text in each.content.text]

    def _arrive(self, outgoing: Outgoing, future: asyncio.Future[SendResult]) -> None:
        at = next((at for at, (kind, _) in enumerate(self.answers) if isinstance(outgoing, kind)), None)
        if at is not None:
            future.set_result(self.answers.pop(at)[1])
        else:
            self.sent.append(outgoing)
            future.set_result(self._result(outgoing))

    def _result(self, outgoing: Outgoing) -> SendResult:
        if isinstance(outgoing, SendText | SendFile):
            return Sent(next(self.numbers))
        if isinstance(outgoing, CreateTopic):
            return Sent(topic=next(self.topics))
        return Sent(outgoing.message if isinstance(outgoing, EditText) else 0)

    def notify(self) -> None:
        """Something changed that a test may wait for."""
        task = asyncio.get_running_loop().create_task(self._notify())
        self._notifications.add(task)
        task.add_done_callback(self._notifications.discard)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class MemoryLedger:
    """Links that survive as long as the test."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.rows: dict[tuple[str, ChatPlace], SessionLink] = {}

    async def links(self) -> list[SessionLink]:
        return list(self.rows.values())

    async def save_link(self, link: SessionLink) -> None:
        self.rows[link.session, link.place] = link
        self._changed()

    async def drop_link(self, session: str, place: ChatPlace) -> None:
        self.rows.pop((session, place), None)
        self._changed()


@dataclass
class ActingDesk:
    """A member's desk: notes what it is asked to do, and does to the store what a hub would."""

    bed: "SessionBed"
    person: Person
    source: str = "telegram"

    async def start(self, say: Words, project: str, **_: object) -> SessionSummary:
        self._note("start", say, project)
        found = next(each for each in await self.bed.reading.projects() if project in (each.id, each.name))
        session = f"s_{next(self.bed.sessions)}"
        await put_session(self.bed.hub, session, phase="queued", project=found.id)
        await self.bed.publish(session, Said("y", text_of(say), 0, self.person, "telegram"))
        if self.bed.crash_after == "start":
            raise asyncio.CancelledError
        return await self.bed.reading.session(session)

    async def say(self, session: str, say: Words, say_id: str | None = None) -> Say:
        self._note("say", session, say, say_id)
        return Say(say_id or "", session, say, self.person, "telegram", NOON)

    async def allow_denied(self, session: str, action: str) -> None:
        self._note("allow", session, action)

    async def interrupt(self, session: str) -> None:
        self._note("interrupt", session)

    async def stop(self, session: str) -> None:
        self._note("stop", session)

    async def change_mode(self, session: str, mode: str) -> None:
        self._note("mode", session, mode)

    async def resume(self, session: str, say: Words | None = None) -> SessionSummary:
        self._note("resume", session, say)
        return await self.bed.reading.session(session)

    def _note(self, *act: object) -> None:
        if self.bed.refusal is not None:
            raise self.bed.refusal
        self.bed.acts.append((self.person.name, *act))


@dataclass
class SessionBed:
    """One hub and its Telegram side. `restart` is what a killed hub does."""

    folder: Path
    hub: Hub
    reading: LocalDesk
    config: TelegramConfig
    outbox: ScriptedOutbox = field(default_factory=ScriptedOutbox)
    ledger: MemoryLedger = field(init=False)
    acts: list[tuple[Any, ...]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    bound: dict[str, tuple[ChatPlace, str, str]] = field(default_factory=dict)
    cards: dict[ChatPlace, int] = field(default_factory=dict)
    refusal: DeskError | None = None
    crash_after: str = ""
    at: datetime = NOON
    session_topics: bool = False
    sessions: Any = field(default_factory=lambda: count(1))
    numbers: Any = field(default_factory=lambda: count(1))
    side: TelegramSessions = field(init=False)
    _cursor: int = 0

    def __post_init__(self) -> None:
        self.ledger = MemoryLedger(self.outbox.notify)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[TelegramSessions]:
        """The side, entered. Its end is a kill: nothing is finished."""
        self.people, self.reach = People(self.config), Reach()
        self.people.private = {1001: 1001, 1002: 1002, 1003: 1003}
        tools = SessionTools(
            self.reading,
            lambda member: ActingDesk(self, member.person),  # type: ignore[return-value, arg-type]
            self.people,
            self.reach,
            self.outbox,
            self.ledger,
            self._bind,
            self._show_again,
            self._download,
            lambda: self.at,
            bytes,
            "http://127.0.0.1:8420",
            self.session_topics,
        )
        async with TelegramSessions(tools, beat=BEAT) as self.side:
            yield self.side

    def last(self) -> tuple[Any, ...]:
        """What a desk was asked to do last."""
        return self.acts[-1]

    def pass_by(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    async def publish(self, session: str, *contents: Content, feed: bool = True) -> None:
        """Items in the store; with `feed`, the side gets them, too."""
        for content in contents:
            await self.hub.store.apply([PublishItems(session, self.at, content)])
        if feed and hasattr(self, "side"):
            await self.feed()

    async def feed(self) -> None:
        for item in await self.reading.items(after=self._cursor, limit=5000):
            self._cursor = item.cursor
            await self.side.item(item)

    async def preview(self, session: str, text: str) -> None:
        await self.side.preview(Preview(session, "m", 0, "text", text))

    def message(self, text: str, place: ChatPlace = PRIVATE, **fields: Any) -> IncomingMessage:
        """A message that is on its way."""
        number, private = next(self.numbers), place.chat > 0
        return IncomingMessage(number, number, place, self.at, text, private=private, forum=not private, **fields)

    async def write(
        self, text: str, member: Member = ANA, place: ChatPlace = PRIVATE, **fields: Any
    ) -> IncomingMessage:
        """A person writes; a command is dispatched as the bot does it."""
        message = self.message(text, place, **fields)
        self.reach.regain(place.chat)
        line = parse(text)
        if line is None:
            await self.side.message(member, message)
        else:
            await self.side.command(member, message, line.name, line.rest)
        return message

    async def press(self, label: str, member: Member = ANA, at: SendText | EditText | None = None) -> str:
        """Presses the newest button with this label."""
        shown = [at] if at else [*reversed(self.outbox.of(SendText)), *reversed(self.outbox.of(EditText))]
        data = next(button.data for each in shown for row in each.keyboard for button in row if button.label == label)
        place, act, argument = self.bound[data]
        return await self.side.press(member, IncomingPress(next(self.numbers), place, 77, act, argument))

    async def project(self, name: str = "shop") -> str:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return (await self.reading.add_project(str(folder), name, Options())).id

    async def end(self, session: str, how: Any = "stopped") -> None:
        """The session ends, in the store and in the feed."""
        summary = await self.reading.session(session)
        ended = Ended(how, "ana stopped it", self.at, by="ana")
        await self.hub.store.apply(records.ended(summary.session, "stop", ended))
        await self.feed()

    async def turn(self, session: str, text: str, **fields: Any) -> None:
        await self.publish(session, TurnStarted(1), Text(text, "m"), turn_ended(text, **fields))

    async def _bind(self, place: ChatPlace, act: str, argument: str) -> str:
        data = f"{act} {argument} {place.chat} {place.topic}"
        self.bound[data] = (place, act, argument)
        return data

    async def _show_again(self, place: ChatPlace) -> int:
        return self.cards.get(place, 0)

    async def _download(self, file: str) -> bytes:
        if file not in self.files:
            raise Refused("The file could not be downloaded.")
        return self.files[file]


def turn_ended(result: str = "", **fields: Any) -> TurnEnded:
    values: dict[str, Any] = {"is_error": False, "error": None, **fields}
    return TurnEnded(1, 0.0123, 4200, {}, result=result, **values)


def session_ended(**fields: Any) -> SessionEnded:
    return SessionEnded("stopped", "ana stopped it", 0, "ana", **fields)


def photo(name: str = "f1") -> IncomingFile:
    return IncomingFile(name, photo=True)


@asynccontextmanager
async def session_bed(tmp: Path, **config: Any) -> AsyncIterator[SessionBed]:
    """A quiet hub, and nothing of Telegram yet."""
    session_topics = config.pop("session_topics", False)
    values = {"chats": (GROUP,), "routes": {"shop": SHOP}, **config}
    settings = TelegramConfig("1:A", (ANA, BO, CY), **values)
    async with quiet_hub(tmp) as opened:
        reading = opened.desk.seat(Person("handraise"), "telegram")
        yield SessionBed(tmp, opened, reading, settings, session_topics=session_topics)
