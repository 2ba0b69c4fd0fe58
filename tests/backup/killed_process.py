"""Makes and restores a backup again and again, each time in a child that is killed one step later than the last.

After each death it checks what is left. Prints how often a child was killed.
"""

import itertools
import os
import signal
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from handraise.backup.archive import Archive
from handraise.backup.restoring import ASIDE, RestoreTarget, restore
from handraise.backup.saving import BackupSource, save
from handraise.hub.replacing import PLAN, finish_replacing

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
NEW, OLD = "new", "old"


def silent(_what: str, _done: int, _total: int) -> None:
    pass


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Whether a child that does the work is killed at this step; False if it is done before."""
    pid = os.fork()
    if pid == 0:
        moments = itertools.count()

        def heard(event: str, _: object) -> None:
            if (event == "open" or event.startswith(("os.", "shutil."))) and next(moments) == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(heard)
        with suppress(BaseException):
            work()
            os._exit(0)
        os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def saving(folder: Path) -> int:
    source = BackupSource(folder / NEW, "laptop", folder / NEW / "hub.db", folder / "handraise.toml")
    target = folder / "backup.zip"
    for moment in itertools.count(0, 3):
        if not killed_at(moment, lambda: save(source, target, NOON, silent, replacing=False)):
            assert zipfile.ZipFile(target).testzip() is None
            assert sorted(each.name for each in folder.iterdir() if "partial" in each.name) == []
            return moment // 3
        if target.exists():  # killed right after it appeared: it is complete
            assert zipfile.ZipFile(target).testzip() is None
            target.unlink()
    raise AssertionError


def restoring(folder: Path) -> int:
    state = folder / "state"
    for moment in itertools.count(0, 3):
        state.mkdir(mode=0o700)
        (state / "machine.json").write_text(OLD)
        (state / "push").mkdir()
        (state / "push" / "devices.json").write_text(OLD)
        target = RestoreTarget(state, state / "hub.db", folder / f"settings-{moment}.toml", None)
        with Archive(folder / "backup.zip") as archive:
            was_killed = killed_at(moment, lambda: restore(archive, target, NOON, silent))  # noqa: B023 (used here)
        if (state / PLAN).exists():
            finish_replacing(state)
        found = (state / "machine.json").read_text()
        if found == OLD:
            assert was_killed
            assert (state / "push" / "devices.json").read_text() == OLD
            assert not (state / "hub.db").exists()
        else:
            assert (state / "hub.db").read_bytes()[:6] == b"SQLite"
            [aside] = state.glob(f"{ASIDE}*")
            assert (aside / "machine.json").read_text() == OLD
            assert (aside / "push" / "devices.json").read_text() == OLD
        state.rename(folder / f"done-{moment}")
        if not was_killed:
            return moment // 3
    raise AssertionError


if __name__ == "__main__":
    place = Path(sys.argv[1])
    os.write(1, f"{saving(place)} {restoring(place)}".encode())
