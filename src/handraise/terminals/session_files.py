"""What one Claude in a terminal writes: its state and its transcript, read further with each look. Blocks on files."""

from pathlib import Path

from handraise.model.actors import Person
from handraise.model.items import Content
from handraise.model.sessions import Session
from handraise.terminals.claude_folder import Transcript, live_session, transcript_of
from handraise.terminals.dialogs import LiveSession
from handraise.terminals.pending_call import PendingCall
from handraise.terminals.transcript_reader import TranscriptReader


class SessionFiles:
    """`offset` is how far the transcript is on the timeline already."""

    def __init__(self, folder: Path | None, session: Session, offset: int, person: Person) -> None:
        self.offset = offset
        self._folder = folder
        self._session = session
        # From its beginning, the first message is the title.
        self._reader = TranscriptReader(person, session.title if offset else "")
        self._pending = PendingCall()
        self._transcript: Transcript | None = None

    @property
    def title(self) -> str:
        return self._reader.title or self._session.title

    @property
    def pending(self) -> str:
        """The call that Claude has not finished; empty if that is unclear."""
        return self._pending.title

    def look(self) -> tuple[LiveSession | None, list[Content]]:
        """Claude's state now, and what is new on its timeline."""
        live = live_session(self._folder, self._session.claude_id) if self._folder is not None else None
        if self._transcript is None:
            self._open()
        if self._transcript is None:
            return live, []
        lines = self._transcript.lines()
        self.offset = self._transcript.offset
        self._pending.read(lines)
        return live, self._reader.read(lines)

    def _open(self) -> None:
        self._transcript = _transcript(self._folder, self._session.claude_id, self.offset)
        earlier = _transcript(self._folder, self._session.claude_id, None) if self.offset else None
        # Only the end of what is on the timeline: a call that waits is among the last.
        self._pending.read(earlier.lines() if earlier is not None else [])


def transcript_size(folder: Path | None, claude_id: str) -> int:
    """How long a session's transcript is; 0 if there is none."""
    found = _transcript(folder, claude_id, 0)
    return found.size if found is not None else 0


def _transcript(folder: Path | None, claude_id: str, offset: int | None) -> Transcript | None:
    path = transcript_of(folder, claude_id) if folder is not None else None
    return Transcript(folder, path, claude_id, offset) if folder is not None and path is not None else None
