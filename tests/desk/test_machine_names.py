"""The names of machines on surfaces that mention them."""

from datetime import UTC, datetime
from pathlib import Path

from desk.hubs import quiet_hub
from handraise.desk.machine_names import MachineNames
from handraise.model.machines import Machine
from handraise.store.changes import SaveMachine

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FAR = Machine("m_far", "build-2", "1", 8, NOON, NOON, away_since=NOON)


async def test_a_machine_is_mentioned_once_there_are_several(tmp_path: Path) -> None:
    async with quiet_hub(tmp_path) as opened:
        names = MachineNames(opened.desk)
        assert await names.titled("Fix it", opened.store.machine) == "Fix it"
        assert await names.titled("Fix it", "") == "Fix it"
        await opened.store.apply([SaveMachine(FAR, NOON)])
        assert await names.titled("Fix it", "m_far") == "Fix it · build-2"
        assert (await names.titled("Fix it", opened.store.machine)).startswith("Fix it · ")
        assert await names.titled("Fix it", "m_unknown") == "Fix it"
