"""The view: what one person has before them: a session with its timeline, or the inbox, and the cards. Pure."""

from msgspec import Struct, field

from handraise.model.asks import Ask
from handraise.model.items import Content, SessionChanged, SessionEnded
from handraise.model.sessions import Session
from handraise.surfaces.terminal.card_stack import CardStack
from handraise.surfaces.terminal.timeline import Timeline


class ViewState(Struct):
    """`session` is the one that is stayed with; None for the inbox."""

    session: Session | None
    timeline: Timeline = field(default_factory=Timeline)
    stack: CardStack = field(default_factory=CardStack)
    connected: bool = True
    looked: bool = False
    """Whether it is known which asks are open."""
    titles: dict[str, str] = field(default_factory=dict)
    _phases: dict[str, str] = field(default_factory=dict)
    _directories: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.session is not None:
            self.timeline.title, self.timeline.mode = self.session.title, self.session.mode
            self.timeline.directory = self.session.directory
            self.timeline.cost_usd = self.session.cost_usd
            self.timeline.working = self.session.phase == "working"
            self.timeline.queued = self.session.phase == "queued"

    @property
    def working(self) -> int:
        """How many sessions work, as far as they are known."""
        return sum(phase == "working" for phase in self._phases.values())

    def know(self, session: str, title: str, phase: str, directory: str = "") -> None:
        """A session, as it is."""
        self.titles[session], self._phases[session] = title, phase
        if directory:
            self._directories[session] = directory

    def directory_of(self, ask: Ask) -> str | None:
        """Where the session of an ask works, as far as it is known."""
        if self.session is not None:
            return self.session.directory if ask.session == self.session.id else None
        return self._directories.get(ask.session or "")

    def hear(self, session: str, content: Content) -> None:
        """What an item says about a session."""
        match content:
            case SessionChanged(title=title, phase=phase):
                self.know(session, title, phase)
            case SessionEnded():
                self._phases[session] = "ended"
            case _:
                pass
