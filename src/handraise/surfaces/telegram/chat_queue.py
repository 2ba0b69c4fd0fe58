"""The queue of one chat: what waits, by priority, and what goes next. Pure: the time is an argument.

It is bounded: a newer edit replaces a waiting one with the same key, and progress beyond MOST_PROGRESS is dropped,
the oldest first. Cards and replies are never dropped: each belongs to an open request or to something a person did.
"""

from collections import deque
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from handraise.surfaces.telegram.outgoing import DeleteMessage, EditText, Outgoing, SendDraft
from handraise.surfaces.telegram.pacing import PRIORITIES, Pace, Priority

MOST_PROGRESS = 100
PATIENCE = 4
"""After this many failures, a message goes to the end of its lane, so that it doesn't hold up the others."""
MOST_REFUSALS = 6
"""How often a message may fail while others arrive, before it is given up."""
LONGEST_PAUSE = 60.0
_SOON = 1.0
_Lane = Literal["card", "reply", "progress", "draft"]
_LANES: tuple[_Lane, ...] = (*PRIORITIES, "draft")


class Queued(Struct):
    """Something that waits. `tickets` are the numbers of those who wait for its result."""

    outgoing: Outgoing
    priority: Priority
    key: str
    tickets: list[int]
    failures: int = 0
    refusals: int = 0
    arrived_before: int = 0
    """How many messages had arrived anywhere when this one failed last."""
    follows: bool = False
    """Whether it goes to the group's new number, if that has changed."""

    @property
    def paced(self) -> bool:
        """Drafts and deletions don't count for Telegram."""
        return not isinstance(self.outgoing, SendDraft | DeleteMessage)

    @property
    def lane(self) -> _Lane:
        return "draft" if isinstance(self.outgoing, SendDraft) else self.priority


class NotBefore(Struct, frozen=True):
    """Nothing goes before this time."""

    at: float


class ChatQueue:
    """One chat. Within a lane, the first in is the first out."""

    def __init__(self, chat: int) -> None:
        self.chat = chat
        self._lanes: dict[_Lane, deque[Queued]] = {lane: deque() for lane in _LANES}
        self._failures = 0
        self._retry_at = float("-inf")
        self._drafts_at = float("-inf")

    def __len__(self) -> int:
        return sum(map(len, self._lanes.values()))

    def __iter__(self) -> Iterator[Queued]:
        for lane in _LANES:
            yield from self._lanes[lane]

    def put(self, item: Queued, now: float) -> Queued | None:
        """Adds it, or replaces what it makes outdated. Returns what was dropped to make room."""
        if self._failures and item.priority != "progress":
            self._retry_at = min(self._retry_at, now + _SOON)
        if (older := self._outdated(item)) is not None:
            self._merge(older, item)
            return None
        lane = self._lanes[item.lane]
        lane.append(item)
        return lane.popleft() if item.lane in ("progress", "draft") and len(lane) > MOST_PROGRESS else None

    def withdraw(self, ticket: int) -> bool:
        """Whether it still waited. What others wait for as well stays."""
        found = next((each for each in self if ticket in each.tickets), None)
        if found is None:
            return False
        found.tickets.remove(ticket)
        if not found.tickets:
            self._lanes[found.lane].remove(found)
        return True

    def next(self, pace: Pace, now: float) -> Queued | NotBefore | None:
        """Takes out what goes now. Nothing at all means that it is empty."""
        earliest = float("inf")
        for lane in _LANES:
            if not self._lanes[lane]:
                continue
            at = self._ready_at(self._lanes[lane][0], pace)
            if at <= now:
                return self._lanes[lane].popleft()
            earliest = min(earliest, at)
        return NotBefore(earliest) if len(self) else None

    def succeed(self) -> None:
        """The server works again."""
        self._failures = 0
        self._retry_at = float("-inf")

    def fail(self, now: float) -> None:
        """The server doesn't answer: the chat waits, each time longer."""
        self._failures += 1
        self._retry_at = now + min(2.0 ** (self._failures - 1), LONGEST_PAUSE)

    def hold_drafts(self, until: float) -> None:
        """Telegram wants a pause for drafts; messages are counted separately."""
        self._drafts_at = max(self._drafts_at, until)

    def put_back(self, item: Queued) -> None:
        """It goes again, as the first of its lane; after some failures, as the last."""
        if (newer := self._outdated(item)) is not None:
            newer.tickets[:0] = item.tickets
        elif item.failures and item.failures % PATIENCE == 0:
            self._lanes[item.lane].append(item)
        else:
            self._lanes[item.lane].appendleft(item)

    def _ready_at(self, item: Queued, pace: Pace) -> float:
        ready = self._retry_at
        if item.lane == "draft":
            ready = max(ready, self._drafts_at)
        return max(ready, pace.ready_at(self.chat, item.priority)) if item.paced else ready

    def _outdated(self, item: Queued) -> Queued | None:
        """What waits with the same key, if one can stand for the other."""
        if not item.key or not isinstance(item.outgoing, EditText | SendDraft):
            return None
        kind = type(item.outgoing)
        return next((each for each in self if each.key == item.key and isinstance(each.outgoing, kind)), None)

    def _merge(self, older: Queued, item: Queued) -> None:
        """The newer one takes the older one's place; the better priority wins."""
        older.outgoing = item.outgoing
        older.tickets += item.tickets
        older.failures = older.refusals = 0
        if PRIORITIES.index(item.priority) < PRIORITIES.index(older.priority):
            self._lanes[older.lane].remove(older)
            older.priority = item.priority
            self._lanes[older.lane].append(older)
