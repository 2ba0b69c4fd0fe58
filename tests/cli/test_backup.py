"""`handraise backup` and `handraise restore` as a person types them, without a Claude."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import apsw
import msgspec
import pexpect
import pytest
from click.testing import CliRunner, Result

from handraise.claude.folder import LaunchRecord
from handraise.claude.process import Identity
from handraise.cli.main import main
from handraise.hub.hub import HubConfig, hub, locked
from handraise.hub.machine_file import MachineFile
from handraise.store.memory.store import MemoryStore
from handraise.store.sqlite.store import SqliteStore
from store.examples import a_text, texts_of
from store.test_copying import HERE, contents, everything, filled

KILLER = Path(__file__).parents[1] / "backup" / "killed_process.py"
SETTINGS = """
telegram = { token_file = "bot-token", allowed = [1] }
web = { tls_cert = "/etc/hostname", tls_key = "/etc/hostname" }
"""
MACHINE = '{"id":"m_0123456789abcdef"}'


class BackupHome:
    """One person's folders: settings, state and Claude's own files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.settings = folder / "config" / "handraise.toml"
        folder.mkdir(exist_ok=True)

    def typed(self, *words: object, **variables: str) -> Result:
        own = {"HOME": str(self.folder), "HANDRAISE_STATE": str(self.state), "HANDRAISE_CONFIG": str(self.settings)}
        return CliRunner().invoke(main, [*map(str, words)], env={**own, **variables})

    def write_settings(self, text: str = "") -> None:
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(text)


async def _typed(home: BackupHome, *words: object) -> Result:
    """The command runs its own loop."""
    return await asyncio.to_thread(home.typed, *words)


@pytest.fixture
async def home(tmp_path: Path) -> BackupHome:
    """A person whose hub kept something of everything."""
    found = BackupHome(tmp_path / "home")
    found.write_settings(SETTINGS)
    (found.settings.parent / "bot-token").write_text("1:secret")
    found.state.mkdir(mode=0o700)
    await filled(SqliteStore(found.state / "hub.db", HERE), everything())
    (found.state / "machine.json").write_text(MACHINE)
    for name in ("push", "telegram", "audit"):
        (found.state / name).mkdir()
    (found.state / "push" / "vapid.json").write_text("keys")
    (found.state / "audit" / "audit.jsonl").write_text("{}\n")
    ledger = apsw.Connection(str(found.state / "telegram" / "telegram.db"))
    ledger.execute(
        "PRAGMA journal_mode = WAL; CREATE TABLE marks (name); INSERT INTO marks VALUES ('offset')"
    ).fetchall()
    found.state.joinpath("telegram", "link").symlink_to("/etc/passwd")
    for odd in ("push/\nodd", "sessions/\x1b[2J/1/out.ndjson", "sessions/s_1/../1", "telegram/.hidden"):
        path = Path(os.path.normpath(found.state / odd))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("odd")
    return found


async def test_what_a_hub_kept_is_restored_on_an_empty_machine(home: BackupHome, tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    done = await _typed(home, "backup", file)
    assert done.exit_code == 0, done.output
    assert f"to {file}: " in done.output
    assert "Not in it, because it isn't beside the settings: /etc/hostname" in done.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir() if "partial" in each.name] == []

    other = BackupHome(tmp_path / "other")
    done = await _typed(other, "restore", file)
    assert done.exit_code == 0, done.output
    assert f"Backup of {socket.gethostname()} from 20" in done.output
    assert await contents(SqliteStore(other.state / "hub.db", HERE)) == await contents(
        SqliteStore(home.state / "hub.db", HERE)
    )
    assert (other.state / "machine.json").read_text() == MACHINE
    assert (other.state / "push" / "vapid.json").read_text() == "keys"
    assert (other.state / "audit" / "audit.jsonl").read_text() == "{}\n"
    assert apsw.Connection(str(other.state / "telegram" / "telegram.db")).execute("SELECT name FROM marks").get
    assert not (other.state / "telegram" / "link").exists()
    assert other.settings.read_text() == home.settings.read_text()
    assert (other.settings.parent / "bot-token").read_text() == "1:secret"
    for path in (other.settings, other.settings.parent / "bot-token", other.state / "hub.db"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert not (other.state / "restoring").exists()
    assert not list(other.state.glob("before-restore-*"))


async def test_a_state_that_exists_is_replaced_only_if_wanted_and_stays_aside(home: BackupHome, tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    await _typed(home, "backup", file)
    async with SqliteStore(home.state / "hub.db", HERE) as store:
        await store.apply([a_text("after the backup")])
    home.write_settings("")
    refused = await _typed(home, "restore", file)
    assert refused.exit_code == 2
    assert "Use --yes to replace it" in refused.output

    done = await _typed(home, "restore", file, "--yes")
    assert done.exit_code == 0, done.output
    assert "Your settings stay as they are." in done.output
    assert home.settings.read_text() == ""
    [aside] = home.state.glob("before-restore-*")
    assert f"The earlier state is in {aside}" in done.output
    assert "token_file" in (aside / "settings-of-the-backup" / "handraise.toml").read_text()
    async with SqliteStore(home.state / "hub.db", HERE) as store:
        assert "after the backup" not in texts_of(await store.items(after=0))
    async with SqliteStore(aside / "hub.db", HERE) as store:
        assert "after the backup" in texts_of(await store.items(after=0))

    again = await _typed(home, "restore", file, "--yes")
    assert again.exit_code == 0, again.output
    assert len(list(home.state.glob("before-restore-*"))) == 2


async def test_a_backup_while_the_hub_writes_has_one_moment_of_it(home: BackupHome, tmp_path: Path) -> None:
    """Numbered texts, committed one by one: the backup has all up to some number, and none after."""
    going = True

    async def write(store: SqliteStore) -> None:
        number = 0
        while going:
            await store.apply([a_text(f"text {number} " + "x" * 500)])
            number += 1

    async with SqliteStore(home.state / "hub.db", HERE) as store:
        writing = asyncio.create_task(write(store))
        for number in range(3):
            done = await _typed(home, "backup", tmp_path / f"{number}.zip")
            assert done.exit_code == 0, done.output
        going = False
        await writing
    for number in range(3):
        other = BackupHome(tmp_path / f"other-{number}")
        assert (await _typed(other, "restore", tmp_path / f"{number}.zip")).exit_code == 0
        async with SqliteStore(other.state / "hub.db", HERE) as store:
            found = [each.split()[1] for each in texts_of(await store.items(after=0)) if each.startswith("text ")]
            assert found == [str(each) for each in range(len(found))]


async def test_nothing_is_restored_under_a_running_hub(home: BackupHome, tmp_path: Path) -> None:
    await _typed(home, "backup", tmp_path / "backup.zip")
    with locked(home.state / "hub.lock", home.state):
        done = await _typed(home, "restore", tmp_path / "backup.zip", "--yes")
        assert (await _typed(home, "backup", tmp_path / "second.zip")).exit_code == 0
    assert done.exit_code == 1
    assert "Stop it first: its sessions keep running." in done.output
    assert not list(home.state.glob("before-restore-*"))


async def test_a_file_that_exists_is_replaced_only_by_force(home: BackupHome, tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    file.write_text("mine")
    done = await _typed(home, "backup", file)
    assert (done.exit_code, file.read_text()) == (1, "mine")
    assert "already exists" in done.output
    assert (await _typed(home, "backup", file, "--force")).exit_code == 0
    assert file.read_bytes()[:2] == b"PK"
    done = await _typed(home, "backup", tmp_path / "nowhere" / "backup.zip")
    assert (done.exit_code, "There is no folder" in done.output) == (1, True)


async def test_a_terminal_shows_progress_and_a_pipe_does_not(home: BackupHome, tmp_path: Path) -> None:
    variables = {"HOME": str(home.folder), "HANDRAISE_STATE": str(home.state), "HANDRAISE_CONFIG": str(home.settings)}
    words = ["-m", "handraise", "backup", str(tmp_path / "backup.zip")]
    terminal = pexpect.spawn(sys.executable, words, env={**os.environ, **variables}, timeout=60, encoding="utf-8")
    terminal.expect_exact("copying the database (100 %)")
    terminal.expect_exact("Saved ")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert "copying" not in (await _typed(home, "backup", tmp_path / "second.zip")).output


async def test_a_backup_that_fails_leaves_nothing_and_says_why(home: BackupHome, tmp_path: Path) -> None:
    """As a process of its own: what is complained about when it ends counts, too."""
    (home.state / "telegram" / "telegram.db").write_bytes(b"no database" * 1000)
    variables = {"HOME": str(home.folder), "HANDRAISE_STATE": str(home.state), "HANDRAISE_CONFIG": str(home.settings)}
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", "handraise", "backup", str(tmp_path / "backup.zip")],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "telegram.db is damaged" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["home"]


async def test_what_cant_be_restored_changes_nothing_and_says_why(home: BackupHome, tmp_path: Path) -> None:
    good = tmp_path / "good.zip"
    await _typed(home, "backup", good)
    newer = BackupHome(tmp_path / "newer")
    newer.write_settings()
    newer.state.mkdir(mode=0o700)
    await filled(SqliteStore(newer.state / "hub.db", HERE), [])
    apsw.Connection(str(newer.state / "hub.db")).pragma("user_version", 999)
    assert (await _typed(newer, "backup", tmp_path / "newer.zip")).exit_code == 0
    (tmp_path / "short.zip").write_bytes(good.read_bytes()[:-40])
    changed = bytearray(good.read_bytes())
    changed[3000] ^= 1
    (tmp_path / "changed.zip").write_bytes(changed)
    (tmp_path / "text.zip").write_text("hello")
    before = sorted((str(each), each.lstat().st_mtime_ns) for each in home.state.rglob("*") if each.is_file())
    for name, reason in (
        ("newer.zip", "schema version 999"),
        ("short.zip", "incomplete"),
        ("changed.zip", "damaged"),
        ("text.zip", "isn't a backup"),
        ("missing.zip", "does not exist"),
    ):
        done = await _typed(home, "restore", tmp_path / name, "--yes")
        assert done.exit_code in (1, 2)
        assert reason in done.output, (name, done.output)
        after = [each for each in home.state.rglob("*") if each.is_file() and each.name not in ("hub.lock",)]
        assert sorted((str(each), each.lstat().st_mtime_ns) for each in after) == before
    assert not (home.state / "restoring").exists()


async def test_a_claude_that_the_backup_doesnt_know_keeps_it_from_being_restored(
    home: BackupHome, tmp_path: Path
) -> None:
    await _typed(home, "backup", tmp_path / "backup.zip")
    living = Identity.of(os.getpid())
    assert living is not None
    record = LaunchRecord(living.pid, living.started, living.boot, ["claude"], "c-9", "/work")
    (home.state / "sessions" / "s_9" / "1").mkdir(parents=True)
    (home.state / "sessions" / "s_9" / "1" / "launch.json").write_bytes(msgspec.json.encode(record))
    done = await _typed(home, "restore", tmp_path / "backup.zip", "--yes")
    assert done.exit_code == 1
    assert "Still running, and not in this backup: s_9." in done.output
    assert not list(home.state.glob("before-restore-*"))


async def test_a_database_elsewhere_goes_back_there(home: BackupHome, tmp_path: Path) -> None:
    there = tmp_path / "data" / "own.db"
    there.parent.mkdir(mode=0o700)
    (home.state / "hub.db").rename(there)
    home.write_settings(f'[store]\ndatabase = "sqlite://{there}"\n')
    assert (await _typed(home, "backup", tmp_path / "backup.zip")).exit_code == 0
    async with SqliteStore(there, HERE) as store:
        await store.apply([a_text("after the backup")])
    done = await _typed(home, "restore", tmp_path / "backup.zip", "--yes")
    assert done.exit_code == 0, done.output
    async with SqliteStore(there, HERE) as store:
        assert "after the backup" not in texts_of(await store.items(after=0))
    [aside] = there.parent.glob("own.db.before-restore-*")
    async with SqliteStore(aside, HERE) as store:
        assert "after the backup" in texts_of(await store.items(after=0))
    assert not (home.state / "hub.db").exists()


async def test_with_a_shared_database_the_machines_own_files_are_saved(home: BackupHome, tmp_path: Path) -> None:
    home.write_settings('[store]\ndatabase = "postgresql://handraise@db.example/handraise"\n')
    done = await _typed(home, "backup", tmp_path / "backup.zip")
    assert done.exit_code == 0, done.output
    assert "PostgreSQL has its own backups" in done.output
    other = BackupHome(tmp_path / "other")
    assert (await _typed(other, "restore", tmp_path / "backup.zip")).exit_code == 0
    assert (other.state / "machine.json").read_text() == MACHINE
    assert not (other.state / "hub.db").exists()

    single = BackupHome(tmp_path / "single")
    single.write_settings()
    done = await _typed(single, "restore", tmp_path / "backup.zip")
    assert done.exit_code == 1
    assert "has no database: it comes from a machine that uses PostgreSQL" in done.output


async def test_a_restore_that_was_killed_is_finished_by_the_next_hub(home: BackupHome, tmp_path: Path) -> None:
    plan = [[str(home.state / "machine.json"), str(home.state / "before-restore-x" / "machine.json")]]
    (home.state / "restore.json").write_text(json.dumps(plan))
    async with hub(HubConfig(home.state, Path(os.devnull), {}, store=MemoryStore)):
        assert (home.state / "before-restore-x" / "machine.json").read_text() == MACHINE
    assert not (home.state / "restore.json").exists()
    assert MachineFile(home.state, os.urandom).id != json.loads(MACHINE)["id"]


async def test_killed_at_any_step_there_is_no_half_backup_and_no_half_state(home: BackupHome, tmp_path: Path) -> None:
    home.state.rename(tmp_path / "new")
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, str(KILLER), str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    saved, restored = map(int, done.stdout.split())
    assert saved > 10
    assert restored > 10
