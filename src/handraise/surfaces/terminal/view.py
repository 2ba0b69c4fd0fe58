"""The view: what one person sees: a session or the inbox, and the stack of cards. Pure.

Time is an argument. A settled ask leaves the stack for good: neither an old list nor a late item brings it back.
"""

from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.model.asks import Ask
from handraise.model.intent import Attention, attend
from handraise.model.items import Content, SessionChanged, SessionEnded
from handraise.model.machines import Machine
from handraise.model.sessions import Session
from handraise.present.flows import flow_of
from handraise.surfaces.terminal import dialogue as dialogues
from handraise.surfaces.terminal.dialogue import Dialogue
from handraise.surfaces.terminal.fit import Fit
from handraise.surfaces.terminal.lines import BETWEEN
from handraise.surfaces.terminal.timeline import Timeline
from handraise.texts import t

_SEEN_ANEW = ("edited", "review")
"""Steps that show what would be sent: they must be looked at like a new card."""


def milliseconds(now: datetime) -> int:
    """The time in the unit of `model.intent`."""
    return int(now.timestamp() * 1000)


class CardStack(Struct):
    """Oldest first. `aside`: the person looks at something else, and no card is on top."""

    aside: bool = False
    top: str | None = None
    fit: Fit = field(default_factory=Fit)
    """How much of the card on top is on the screen."""
    pointing: int | None = None
    """The choice that was shown as selected."""
    touched: int | None = None
    """When the person last typed something that wasn't for a card."""
    _open: dict[str, Dialogue] = field(default_factory=dict)
    _settled: set[str] = field(default_factory=set)
    _attention: dict[str, Attention] = field(default_factory=dict)
    _directories: dict[str, str | None] = field(default_factory=dict)
    _drawn: str | None = None
    """The card drawn last."""
    _read: tuple[str, int, int] = ("", 0, 0)
    """Which card was read in full, at which width, and how far without a gap."""

    @property
    def current(self) -> Dialogue | None:
        """The dialogue on top."""
        return None if self.aside or self.top is None else self._open[self.top]

    @property
    def attention(self) -> Attention | None:
        """The person's attention to the card on top; None before it was drawn."""
        return None if self.aside or self.top is None or self._drawn != self.top else self._attention[self.top]

    @property
    def waiting(self) -> list[Ask]:
        """Every open ask."""
        return [each.ask for each in self._open.values()]

    @property
    def place(self) -> str:
        """The position of the card on top among several."""
        if self.top is None or len(self._open) < 2:
            return ""
        return t("terminal.card.place", place=list(self._open).index(self.top) + 1, total=len(self._open))

    def headline(self, ask: str) -> str:
        """What an open ask wants, on one line."""
        return self._open[ask].flow.card.headline

    def add(self, ask: Ask, now: datetime, directory: str | None = None) -> bool:
        """Whether it is new. Paths are relative to this directory."""
        if ask.id in self._open or ask.id in self._settled:
            return False
        if ask.state != "open":
            self._settled.add(ask.id)
            return False
        self._directories[ask.id] = directory
        self._open[ask.id] = dialogues.begin(ask, flow_of(ask, directory))
        self._attention[ask.id] = attend("terminal", milliseconds(now))
        if self.top is None:
            self._show(ask.id)
        return True

    def remove(self, ask: str) -> Dialogue | None:
        """The dialogue of a settled ask, if it was here; the next one comes on top."""
        self._settled.add(ask)
        self._attention.pop(ask, None)
        self._directories.pop(ask, None)
        gone = self._open.pop(ask, None)
        if self.top == ask:
            self._show(next(iter(self._open), None))
        return gone

    def keep_only(self, open_asks: set[str]) -> list[Dialogue]:
        """Removes everything that is no longer open."""
        return [gone for each in set(self._open) - open_asks if (gone := self.remove(each))]

    def drawn(self, fit: Fit, now: datetime) -> None:
        """The card on top was drawn, as far as it fits. Only from here on can it have been read."""
        current, at = self.current, milliseconds(now)
        if current is None:
            self._drawn = None
            return
        name = current.ask.id
        if self._drawn != name:
            moved = self._attention[name].move(at)
            self._attention[name] = moved if self.touched is None else moved.touch(self.touched)
        self._drawn, self.fit, self.pointing = name, fit, current.pointer
        if fit.whole or (current.reading is not None and self._has_read(name, fit)):
            self._attention[name] = self._attention[name].see()

    def attend(self, attention: Attention) -> None:
        """Sets the person's attention to the card on top."""
        if self.top is not None:
            self._attention[self.top] = attention

    def touch(self, at: int) -> None:
        """The person typed something that wasn't for the card on top."""
        self.touched = at
        if self.top is not None:
            self._attention[self.top] = self._attention[self.top].touch(at)

    def put(self, dialogue: Dialogue, now: datetime) -> None:
        """Updates the dialogue, if its ask is still open. A new step must be looked at again."""
        name, at = dialogue.ask.id, milliseconds(now)
        before = self._open.get(name)
        if before is None:
            return
        self._open[name] = dialogue
        if (before.at, before.step.name) != (dialogue.at, dialogue.step.name):
            attention = self._attention[name]
            again = dialogue.step.name in _SEEN_ANEW or before.step.name in _SEEN_ANEW
            self._attention[name] = attention.change(at) if again else attention.turn(at)
            self._read = ("", 0, 0)

    def restore(self, dialogue: Dialogue, attention: Attention) -> None:
        """Restores its earlier state."""
        if dialogue.ask.id in self._open:
            self._open[dialogue.ask.id], self._attention[dialogue.ask.id] = dialogue, attention

    def find(self, ask: str) -> Dialogue | None:
        return self._open.get(ask)

    def turn(self, by: int) -> None:
        """The next card, or the one before."""
        ids = list(self._open)
        if self.top is not None and len(ids) > 1:
            self._show(ids[(ids.index(self.top) + by) % len(ids)])

    def show(self, ask: str) -> None:
        """Brings a card back to the top."""
        if ask in self._open and ask != self.top:
            self._show(ask)

    def put_aside(self, aside: bool) -> None:
        self.aside = aside
        self._drawn = None

    def begin_again(self, ask: Ask, now: datetime) -> None:
        """The ask has changed: what was chosen and seen doesn't count."""
        if ask.id in self._open:
            flow = flow_of(ask, self._directories.get(ask.id))
            self._open[ask.id] = replace(dialogues.begin(ask, flow), note=t("terminal.card.changed"))
            self._attention[ask.id] = self._attention[ask.id].change(milliseconds(now))
            self._read = ("", 0, 0)

    def _show(self, ask: str | None) -> None:
        self.top, self._drawn = ask, None
        if ask is None:
            self.aside = False

    def _has_read(self, name: str, fit: Fit) -> bool:
        """Whether it was on the screen from start to end, one part after the other, at this width."""
        _, _, to = self._read if self._read[:2] == (name, fit.width) else ("", 0, 0)
        to = max(to, fit.last) if fit.first <= to else to
        self._read = (name, fit.width, to)
        return to >= fit.total


class ViewState(Struct):
    """`session` is the one being followed; None for the inbox, of all machines or of one."""

    session: Session | None
    machine: str | None = None
    """The ID of the only machine whose asks are shown."""
    timeline: Timeline = field(default_factory=Timeline)
    stack: CardStack = field(default_factory=CardStack)
    connected: bool = True
    looked: bool = False
    """Whether the open asks are known."""
    titles: dict[str, str] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)
    """The machines that share the inbox, by ID; with one, none is named."""
    own: str = ""
    """The hub's own machine."""
    dialogs: dict[str, str] = field(default_factory=dict)
    """What waits in terminals and can be answered only there, by session."""
    _phases: dict[str, str] = field(default_factory=dict)
    _directories: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.session is not None:
            self.timeline.title, self.timeline.mode = self.session.title, self.session.mode
            self.timeline.directory, self.timeline.terminal = self.session.directory, self.session.terminal
            self.timeline.cost_usd, self.timeline.usage = self.session.cost_usd, self.session.usage
            self.timeline.dialog = self.session.dialog
            self.timeline.working = self.session.phase == "working"
            self.timeline.queued = self.session.phase == "queued"

    @property
    def speaks(self) -> bool:
        """Whether messages and wishes reach this session from here: not while a person runs it in a terminal."""
        return self.session is not None and (not self.timeline.terminal or self.timeline.ended is not None)

    def shows(self, ask: Ask) -> bool:
        """Whether the inbox has this ask."""
        return self.machine in (None, ask.machine or self.own)

    def machine_of(self, of: Session | Ask) -> Machine | None:
        """Where it is, if there are several machines."""
        return self.machines.get(of.machine or self.own) if len(self.machines) > 1 else None

    def place_of(self, of: Session | Ask) -> str:
        """The name of its machine, and whether that is away; empty if there is only one."""
        machine = self.machine_of(of)
        if machine is None:
            return ""
        return machine.name if machine.away_since is None else t("terminal.machine.named_away", name=machine.name)

    def asker_of(self, ask: Ask) -> str:
        """The session that asks, and where it is, for the inbox; empty for the session's own view."""
        if self.session is not None:
            return ""
        return BETWEEN.join(each for each in (self.titles.get(ask.session or "", ""), self.place_of(ask)) if each)

    def stored_until(self, ask: Ask) -> str:
        """What becomes of an answer while the machine is away; empty if it is online."""
        machine = self.machine_of(ask)
        away = machine is not None and machine.away_since is not None
        return t("terminal.machine.away_card", name=machine.name) if machine is not None and away else ""

    @property
    def working(self) -> int:
        """How many sessions work, as far as known."""
        return sum(phase == "working" for phase in self._phases.values())

    def know(self, session: str, title: str, phase: str, directory: str = "", dialog: str = "") -> None:
        """Updates a session."""
        self.titles[session], self._phases[session] = title, phase
        self.dialogs.pop(session, None)
        if dialog:
            self.dialogs[session] = dialog
        if directory:
            self._directories[session] = directory

    def directory_of(self, ask: Ask) -> str | None:
        """Where an ask's session works, if known."""
        if self.session is not None:
            return self.session.directory if ask.session == self.session.id else None
        return self._directories.get(ask.session or "")

    def hear(self, session: str, content: Content) -> None:
        """Updates a session from an item."""
        match content:
            case SessionChanged(title=title, phase=phase, dialog=dialog):
                self.know(session, title, phase, dialog=dialog)
            case SessionEnded():
                self._phases[session] = "ended"
                self.dialogs.pop(session, None)
            case _:
                pass
