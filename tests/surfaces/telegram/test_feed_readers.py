"""The session side's reader: it says which sessions are shown, so that partial text comes from other machines."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from api.hubs import two_hubs, wanted_by
from handraise.hub.hub import now
from handraise.model.actors import Person
from handraise.model.items import Preview
from handraise.store.changes import SaveSession
from handraise.surfaces.telegram.feed_readers import SessionReader
from handraise.surfaces.telegram.ledger import Ledger
from surfaces.telegram.bots import NotedSide

DEADLINE = 30.0


@dataclass
class ShowingSide(NotedSide):
    """Shows what a test says."""

    sessions: frozenset[str] = frozenset()
    previews: list[str] = field(default_factory=list)

    def shown(self) -> frozenset[str]:
        return self.sessions

    async def preview(self, preview: Preview) -> None:
        self.previews.append(preview.text)


async def test_partial_text_comes_from_another_machine_while_the_session_is_shown(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(DEADLINE),
        two_hubs(tmp_path) as (one, two),
        Ledger(tmp_path / "telegram.db", now) as ledger,
    ):
        session = replace(await two.session(), machine=two.up.hub.store.machine)
        await two.up.hub.store.apply([SaveSession(session)])
        side = ShowingSide(cast(Any, None))
        desk = one.up.hub.desk.seat(Person("handraise"), "telegram")
        reading = asyncio.create_task(SessionReader(desk, side, ledger, None, watches=True).run())
        for shown in (frozenset({session.id}), frozenset[str]()):
            side.sessions = shown
            while wanted_by(one) != shown:
                await two.publish("a step", session=session.id)
                await asyncio.sleep(0.01)
            if shown:
                while not side.previews:
                    two.up.hub.feed.preview(Preview(session.id, "m", 0, "text", "half"))
                    await asyncio.sleep(0.01)
        assert set(side.previews) == {"half"}
        cursors = [item.cursor for item in side.items]
        assert cursors == sorted(set(cursors))
        reading.cancel()
