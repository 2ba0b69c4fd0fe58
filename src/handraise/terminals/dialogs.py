"""What becomes of a dialog in a terminal, judged by what Claude Code writes about itself. Pure."""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

Fate = Literal["waiting", "answered", "ended", "hidden", "absent"]
"""`hidden`: Claude Code shows it only if nobody decides elsewhere. `absent`: there is none (`claude -p`)."""
Decider = Literal["hook", "terminal"]
_WAITING, _IDLE = "waiting", "idle"
_CERTAIN = 2
"""How often in a row Claude must be seen without a dialog: between two dialogs its state may flicker."""
_SURELY_IDLE = 5
"""How often in a row Claude must be seen without a turn, if its dialog was never seen: it was answered before."""

_INTERACTIVE = ("", "cli")
"""How the interactive program calls itself. Older ones don't say."""
_TERMINAL = (*_INTERACTIVE, "sdk-cli")
"""How it calls itself if no other program runs it: `sdk-cli` is `claude -p`."""
_ALONE = 3
"""How often in a row: a dialog that was answered here stays until Claude has read the answer."""


class LiveSession(Struct, frozen=True, rename="camel"):
    """`sessions/<pid>.json` in Claude's folder, which Claude Code keeps current and removes when it exits."""

    pid: int
    session_id: str
    cwd: str = ""
    proc_start: str = ""
    status: str = ""
    name: str = ""
    entrypoint: str = ""

    @property
    def is_interactive(self) -> bool:
        """Whether it draws its dialogs itself, rather than an editor, or nobody."""
        return self.entrypoint in _INTERACTIVE

    @property
    def is_in_editor(self) -> bool:
        """Whether another program runs it, and shows its dialogs."""
        return self.entrypoint not in _TERMINAL

    @property
    def waits(self) -> bool:
        """Whether a dialog is up."""
        return self.status == _WAITING


class TerminalDialog:
    """One dialog, observed until it is gone. A Claude that was never seen is never judged.

    `claude -p` has no dialogs. Without an answer it denies the call and goes on, so it shouldn't wait much longer.
    """

    def __init__(self, most_looks: int, *, is_of_agent: bool = False) -> None:
        """`is_of_agent`: a sub-agent may ask while the conversation has no turn."""
        self._most = most_looks
        self._looks = 0
        self._is_of_agent = is_of_agent
        self._was_up = False
        self._was_alive = False
        self._without = 0
        self._idle = 0

    def look(self, live: LiveSession | None, decided: Decider | None) -> Fate:
        """What a further look says: Claude's state now, and who decided the call, if its transcript says so."""
        if decided is not None:
            return "answered"
        if live is None:
            return "ended" if self._was_alive else "waiting"
        self._was_alive = True
        if live.waits:
            self._was_up, self._without = True, 0
        elif self._was_up:
            self._without += 1
        else:
            self._looks += 1
        # A hub that was slow hears of a dialog when it is gone. Nothing is asked without a turn.
        self._idle = self._idle + 1 if live.status == _IDLE and not self._is_of_agent else 0
        if self._without >= _CERTAIN or self._idle >= _SURELY_IDLE:
            return "answered"
        return "absent" if self._looks > self._most else "waiting"


class AgentDialog:
    """The dialog of a sub-agent in a terminal, observed until it is gone: hidden until its hook answers.

    The state of the session doesn't tell whose dialog is up, so it decides nothing. But if none is up, this one is
    hidden, and the person at the terminal shouldn't wait for it much longer.
    """

    def __init__(self, most_looks: int) -> None:
        self._most = most_looks
        self._looks = 0
        self._was_alive = False

    def look(self, live: LiveSession | None, decided: Decider | None) -> Fate:
        """What a further look says: Claude's state now, and who decided the call, if its transcript says so."""
        if decided is not None:
            return "answered"
        if live is None:
            return "ended" if self._was_alive else "waiting"
        self._was_alive = True
        self._looks += not live.waits
        return "hidden" if self._looks > self._most else "waiting"


class LoneDialog:
    """Tells whether a dialog is up that can be answered only in its terminal: no ask of ours stands for it."""

    def __init__(self, *, was_up: bool) -> None:
        """`was_up`: a dialog that the first look finds was up before anybody here could be asked."""
        self._looks = _ALONE if was_up else 0

    def look(self, live: LiveSession | None, has_ask: bool) -> bool:
        """What a further look says."""
        is_alone = live is not None and live.waits and not has_ask
        self._looks = self._looks + 1 if is_alone else 0
        return self._looks >= _ALONE


class CallTrace:
    """Finds one tool call in a transcript, and who decided it."""

    def __init__(self, tool: str, tool_input: dict[str, Any]) -> None:
        self._tool = tool
        self._input = tool_input
        self._candidates: dict[str, Decider | None] = {}
        self._old: set[str] = set()

    @property
    def call(self) -> str | None:
        """The ID of the call: the newest with this input that was not decided before we looked."""
        return next((each for each in reversed(self._candidates) if each not in self._old), None)

    @property
    def decided(self) -> Decider | None:
        call = self.call
        return self._candidates[call] if call is not None else None

    def read_earlier(self, lines: Iterable[bytes]) -> None:
        """What was there before the dialog: calls that are already decided are others."""
        self.read(lines)
        self._old = {call for call, decided in self._candidates.items() if decided is not None}

    def read(self, lines: Iterable[bytes]) -> None:
        """Further lines, each complete. What isn't understood is passed over."""
        for line in lines:
            try:
                entry = _LINES.decode(line)
            except (msgspec.MsgspecError, RecursionError):
                continue
            self._enter(entry)

    def _enter(self, entry: "_Entry") -> None:
        about = entry.attachment
        if about is not None and about.type == "hook_permission_decision" and about.tool_use in self._candidates:
            self._candidates[about.tool_use] = "hook"
        blocks = entry.message.content if entry.message is not None else None
        for block in blocks if isinstance(blocks, list) else ():
            if isinstance(block, dict):
                self._see(block, entry)

    def _see(self, block: dict[str, Any], entry: "_Entry") -> None:
        match block:
            case {"type": "tool_use", "id": str(call), "name": self._tool, "input": self._input}:
                self._candidates.setdefault(call, None)
            case {"type": "tool_result", "tool_use_id": str(call)} if call in self._candidates:
                by_hook = entry.decision is not None and entry.decision.source == "hook"
                self._candidates[call] = self._candidates[call] or ("hook" if by_hook else "terminal")
            case _:
                pass


class _Message(Struct):
    content: Any = None


class _Attachment(Struct):
    type: str = ""
    tool_use: str = msgspec.field(name="toolUseID", default="")


class _Decision(Struct):
    source: str = ""


class _Entry(Struct):
    message: _Message | None = None
    attachment: _Attachment | None = None
    decision: _Decision | None = msgspec.field(name="permissionDecision", default=None)


_LINES = msgspec.json.Decoder(_Entry)
"""Made while it is imported: several threads use it."""
