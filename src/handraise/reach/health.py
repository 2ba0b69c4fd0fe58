"""How each channel is: when it last worked, and what is wrong with it. Any hub can tell."""

from datetime import datetime

import msgspec
from msgspec import Struct

from handraise.desk.shared import RecordChange
from handraise.reach.log import ReachRecords

KIND = "reach health"


class ChannelState(Struct, frozen=True):
    """`trouble`: why the last message failed; empty if it didn't."""

    at: datetime
    trouble: str = ""
    last_sent_at: datetime | None = None


class ChannelHealth:
    """By channel, as records. Whoever comes last is right."""

    def __init__(self, records: ReachRecords) -> None:
        self._records = records

    async def read(self) -> dict[str, ChannelState]:
        return {key: _decoded(each) for key, each in (await self._records.read(KIND)).items()}

    async def note(self, channel: str, trouble: str | None, now: datetime) -> None:
        """None: it works."""
        stored = await self._records.record(KIND, channel)
        before = _decoded(stored) if stored is not None else ChannelState(now)
        after = ChannelState(now, trouble or "", before.last_sent_at if trouble else now)
        # If another hub was faster, its word counts as well as ours.
        await self._records.save(KIND, [RecordChange(channel, msgspec.json.encode(after), stored)])

    async def forget(self, channel: str) -> None:
        await self._records.save(KIND, [RecordChange(channel, None, None)])


def _decoded(stored: bytes) -> ChannelState:
    return msgspec.json.decode(stored, type=ChannelState)
