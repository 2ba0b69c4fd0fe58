"""The terminal's inbox as a surface of the suite: the real command in one pseudo-terminal for all scenarios."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from handraise.model.asks import Ask, Body, Form, Question
from handraise.present.headlines import headline, without_marks
from handraise.present.outcomes import outcome
from surfaces.suite.cases import Gesture
from surfaces.suite.stream_relay import StreamRelay, stream_relay
from surfaces.suite.surface import ShownCard
from surfaces.suite.surface_hub import SurfaceHub, quiet_config
from surfaces.terminal.pseudo import CTRL_U, ENTER, Pseudo, handraise

READY = "Esc to postpone"
LOST, FOUND = "Lost the connection to the hub", "Reconnected to the hub"
PACE = 0.04
EDITOR = '#!/bin/sh\ncp "$(dirname "$0")/written" "$1"\n'
ROW = re.compile(r"^[❯ ] (\d| ) (?:\[.\] )?(.+?)(?: \([a-z]\))?(?: – .*)?$")
GRANTING = {"once": "a1", "session": "s2", "always": "w3", "suggestion": "77", "approve": "a1", "free": "y2"}
GRANTING |= {"done": "11", "exactly": "11"}
"""What is selected with its key and has this digit; Enter confirms it."""
AT_ONCE = {"outline": "p", "decline": "d", "cancel": "6", "without": "d", "never": "6"}
WRITTEN = {"deny": "d", "stop": "x", "revise": "d"}
WANTED = {"deny": "Why? Claude reads it", "stop": "Why? Claude reads it", "revise": "What should change?"}


class TerminalSurface:
    """`handraise inbox`. It says each outcome once, above the card."""

    person = "owner"
    source = "terminal"
    absent: Mapping[str, str] = {}
    differs: Mapping[str, str] = {"plan: revise, without a text": "Claude has to know what to change"}
    folded: frozenset[str] = frozenset()
    follows: frozenset[str] = frozenset()
    shows_all = True
    shows_again = True
    answers_late = False

    def __init__(self, hub: SurfaceHub, wire: StreamRelay, terminal: Pseudo, written: Path) -> None:
        self.hub = hub
        self.about_to_send: Callable[[], object] = bool
        self.presses = 1
        self._wire = wire
        self._terminal = terminal
        self._written = written
        self._lines_before: dict[str, int] = {}
        """How many lines there were before an ask was shown."""

    async def shown(self, ask: Ask) -> ShownCard:
        self._lines_before.setdefault(ask.id, len(self._lines()))
        await self._terminal.wait(lambda: _question(ask) in self._card(), _question(ask))
        return ShownCard(self._card(), self._labels())

    async def act(self, ask: Ask, gesture: Gesture) -> None:
        await self._until(_question(ask), READY)
        match ask.body:
            case Question():
                await self._pick(ask.body, gesture)
            case Form() if gesture.act == "fill":
                await self._fill(ask.body, gesture)
            case _ if gesture.act == "edit":
                self._written.write_text(gesture.text)
                self._terminal.type("e")
                await self._until("with your changes?", gesture.text.lstrip("# "), READY)
                await self._confirm("a1")
            case _ if gesture.act in WRITTEN:
                self._terminal.type(WRITTEN[gesture.act])
                await self._until(WANTED[gesture.act], "Enter to send")
                await self._write(gesture.text)
            case _ if gesture.act in AT_ONCE:
                self._send(AT_ONCE[gesture.act])
            case _:
                await self._confirm(GRANTING[gesture.act])

    async def act_early(self, body: Body, gesture: Gesture) -> Ask:
        """Someone is typing when the card appears, and goes on for a while."""
        keys = (GRANTING[gesture.act][0], ENTER)
        await self._type(*keys)
        ask = await self.hub.open(body)
        while _question(ask) not in self._card():
            await self._type(*keys)
        await self._type(*keys * 5)
        return ask

    async def says(self, ask: Ask, *words: str) -> str:
        def found() -> bool:
            text = self._about(ask)
            return all(word in text for word in words)

        await self._terminal.wait(found, f"{words}")
        return self._about(ask)

    def own_outcome(self, ask: Ask) -> str:
        found = outcome(ask, "/work/app")
        assert found is not None
        return without_marks(found.yours)

    async def offered(self, ask: Ask) -> tuple[str, ...]:
        return self._labels() if _question(ask) in self._card() else ()

    @asynccontextmanager
    async def unaware(self) -> AsyncIterator[None]:
        with self._wire.held():
            yield

    async def leave(self) -> None:
        times = self._count(LOST)
        self._wire.cut()
        await self._terminal.wait(lambda: self._count(LOST) > times, LOST)

    async def come_back(self) -> None:
        times = self._count(FOUND)
        self._wire.mend()
        await self._terminal.wait(lambda: self._count(FOUND) > times, FOUND)

    async def restart_hub(self) -> None:
        lost, found = self._count(LOST), self._count(FOUND)
        await self.hub.stop()
        await self._terminal.wait(lambda: self._count(LOST) > lost, LOST)
        await self.hub.start()
        await self._terminal.wait(lambda: self._count(FOUND) > found, FOUND)

    async def clear(self) -> None:
        await self._terminal.until("Nothing needs you", gone="▌")

    async def _pick(self, body: Question, gesture: Gesture) -> None:
        several = len(body.questions) > 1
        for prompt, choice in zip(body.questions, gesture.picks, strict=True):
            await self._until(prompt.question, READY)
            labels = [option.label for option in prompt.options]
            press = self._send if not several and not prompt.multi_select else self._terminal.type
            for label in choice.labels:
                press(str(labels.index(label) + 1))
                if prompt.multi_select:
                    await self._until(f"[x] {label}")
            if choice.text is not None:
                if labels:
                    self._terminal.type("0")
                await self._until("Enter to save it" if prompt.multi_select else "Enter to send")
                await self._write(choice.text)
            if prompt.multi_select:
                await self._until("Enter to continue")
                (self._terminal.type if several else self._send)(ENTER)
        if several:
            await self._until("Ready to send", READY)
            self._send(ENTER)

    async def _fill(self, body: Form, gesture: Gesture) -> None:
        self._terminal.type("e")
        for name, value in gesture.fields.items():
            field = body.schema["properties"][name]
            if value is True or "enum" in field:
                await self._until(field["title"], READY)
                self._terminal.type(str(field["enum"].index(value) + 1) if "enum" in field else "1")
            else:
                await self._until(field["title"], field.get("description", ""), "Enter to continue")
                await self._terminal.enter(str(value))
        await self._until("Ready to send", READY)
        self._send(ENTER)

    async def _confirm(self, keys: str) -> None:
        self._terminal.type(keys[0])
        await self._until(f"❯ {keys[1]} ")
        self._send(ENTER)

    async def _write(self, text: str) -> None:
        """Instead of what was written there before."""
        if self._entered():
            self._terminal.type(CTRL_U)
            await self._terminal.wait(lambda: not self._entered(), "an empty line")
        self._terminal.type(text)
        await self._terminal.wait(lambda: self._entered() == text, text)
        self._send(ENTER)

    def _entered(self) -> str:
        """What is in the card's line."""
        rows = [row.removeprefix("▌ ›") for row in self._terminal.lines if row.startswith("▌ ›")]
        return rows[0].strip() if rows else ""

    def _send(self, key: str) -> None:
        self.about_to_send()
        self._terminal.type(key)
        for number in range(1, self.presses):  # in one piece it would be a paste
            asyncio.get_running_loop().call_later(PACE * number, self._terminal.type, key)

    async def _type(self, *keys: str) -> None:
        for key in keys:
            self._terminal.type(key)
            await asyncio.sleep(PACE)

    async def _until(self, *words: str) -> None:
        """The card has all of these."""
        await self._terminal.wait(lambda: all(word in self._card() for word in words), f"{words}")

    def _card(self) -> str:
        rows = [row[1:].lstrip(" │↪") for row in self._terminal.lines if row.startswith("▌")]
        return " ".join(without_marks(" ".join(rows)).split())

    def _labels(self) -> tuple[str, ...]:
        rows = (ROW.match(row[2:]) for row in self._terminal.lines if row.startswith("▌ "))
        return tuple(without_marks(found[2]) for found in rows if found)

    def _lines(self) -> list[str]:
        """What was said so far, above the card."""
        rows = without_marks(self._terminal.everything).split("\n")
        return [
            row for row in rows if row and row[:1] != "▌" and "Ctrl-D" not in row and "Nothing needs you" not in row
        ]

    def _about(self, ask: Ask) -> str:
        """What was said since it was shown, and its card."""
        return " ".join([*self._lines()[self._lines_before.get(ask.id, 0) :], self._card()])

    def _count(self, text: str) -> int:
        return self._terminal.everything.count(text)


def _question(ask: Ask) -> str:
    """What its card asks first."""
    match ask.body:
        case Question(questions=(first, *_)):
            return first.question
        case Form(message=message):
            return message
        case _:
            return without_marks(headline(ask, "/work/app"))


@asynccontextmanager
async def terminal_surface(tmp: Path) -> AsyncIterator[TerminalSurface]:
    """While this is entered."""
    for folder in ("near", "home"):
        (tmp / folder).mkdir()
    editor = tmp / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o700)
    fields = {"HANDRAISE_STATE": str(tmp / "near"), "HOME": str(tmp / "home"), "EDITOR": str(editor)}
    fields |= {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
    async with (
        SurfaceHub(quiet_config(tmp, port=0)) as hub,
        stream_relay(tmp / "state" / "hub.sock", tmp / "near" / "hub.sock") as wire,
        Pseudo(*handraise("inbox"), environment=fields, cwd=str(tmp), columns=140, rows=50) as terminal,
    ):
        await terminal.until("Nothing needs you")
        yield TerminalSurface(hub, wire, terminal, tmp / "written")
