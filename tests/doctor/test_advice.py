"""The doctor's advice works: bring the fault about, do literally what it says, and it isn't found any more."""

import ast
import asyncio
import json
import os
import shlex
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest
from click.testing import CliRunner

from api.certificates import make_certificate
from api.served import served
from handraise import texts
from handraise.cli.main import main
from handraise.doctor import checks
from handraise.doctor.checks import Finding
from handraise.doctor.examine import examine
from handraise.hub.hub import DATABASE
from handraise.store.sqlite.store import SqliteStore
from handraise.workspace.hook_entry import HookEntry
from handraise.workspace.user_settings import sync_user

SOURCES = Path(checks.__file__).parent
CLAUDE = """#!/bin/sh
case "$1 $2" in
  "--version "*) cat {folder}/version ;;
  "update "*) echo '2.1.325 (Claude Code)' >{folder}/version ;;
  "auth status"*) test -e {folder}/signed-in && echo '{{"loggedIn": true}}' || echo '{{"loggedIn": false}}' ;;
  "auth login"*) touch {folder}/signed-in ;;
esac
"""

FOLLOWED = {
    "doctor.run": "chmod, sysctl, the program's update, pip: each below",
    "doctor.settings.fix": "a settings file with a mistake",
    "doctor.claude.install": "a path where there is no Claude Code",
    "doctor.login.run": "a program that isn't signed in",
    "doctor.login.run_or_key": "the same, with a key",
    "doctor.sandbox.advice": "a sandbox that is off",
    "doctor.hooks.fix": "settings of Claude that aren't JSON",
    "doctor.hooks.sync": "a hook with another address",
    "doctor.port.advice": "a port that somebody uses",
    "doctor.port.other_host": "an address of another machine",
    "doctor.port.other_port": "a port for root",
    "doctor.tls.fix": "a certificate that isn't there",
    "doctor.tls.advice": "a hub for everyone without TLS",
    "doctor.folder.shorter": "a folder that is too long for a socket",
    "doctor.folder.other_state": "a file instead of a state folder",
    "doctor.folder.other_database": "the same for the database",
    "doctor.disk.advice": "less than 100 MiB",
    "doctor.database.advice": "a database of a newer version",
    # tests/doctor/test_database.py runs these against a real PostgreSQL
    "doctor.database.use_file": "test_database",
    "doctor.database.own_role": "test_database",
    "doctor.database.grant_create": "test_database",
    "doctor.database.grant_tables": "test_database",
    "doctor.database.migrate_once": "test_database",
    "doctor.database.session_mode": "test_database",
    "doctor.database.set_clock": "test_database",
    "doctor.database.verify_full": "test_database",
    # tests/doctor/test_webhooks.py, with a receiver on loopback
    "doctor.webhooks.fix": "test_webhooks",
    "doctor.webhooks.turn_on": "test_webhooks",
    # tests/doctor/test_telegram.py, with a Bot API on loopback
    "doctor.telegram.new_token": "test_telegram",
    "doctor.telegram.network": "test_telegram",
    "doctor.telegram.one_program": "test_telegram",
    "doctor.telegram.later": "test_telegram",
    "doctor.telegram.see_status": "test_telegram",
    "doctor.telegram.add_bot": "test_telegram",
    "doctor.telegram.change_number": "test_telegram",
    "doctor.telegram.start": "test_telegram",
    "doctor.telegram.make_forum": "test_telegram",
    "doctor.telegram.allow": "test_telegram",
    "doctor.telegram.https": "test_telegram",
    "doctor.telegram.set_clock": "test_telegram",
}
"""Every text that is printed as advice, and where it is followed."""


class Patient:
    """A home with a settings file, a state folder and a Claude Code that says what we want."""

    def __init__(self, tmp: Path) -> None:
        self.home = tmp
        self.project = tmp
        self.state = tmp / "state"
        self.file = tmp / "handraise.toml"
        self.settings: dict[str, dict[str, Any]] = {"web": {"port": 0}, "claude": {"path": str(tmp / "claude")}}
        self.options: list[str] = []
        self.environment: dict[str, str] = {}
        program = tmp / "claude"
        program.write_text(CLAUDE.format(folder=shlex.quote(str(tmp))))
        program.chmod(0o755)
        (tmp / "version").write_text("2.1.325 (Claude Code)\n")
        (tmp / "signed-in").touch()

    def set(self, section: str, **values: Any) -> None:
        self.settings.setdefault(section, {}).update(values)

    def findings(self, name: str) -> list[Finding]:
        """Those of `handraise doctor` with this name that aren't fine."""
        rows = [f"[{name}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in s.items()) for name, s in self._all()]
        mode = self.file.stat().st_mode & 0o777 if self.file.exists() else 0o600
        self.file.write_text("".join(rows))
        self.file.chmod(mode)
        environment = {
            "HOME": str(self.home),
            "HANDRAISE_CONFIG": str(self.file),
            "HANDRAISE_STATE": str(self.state),
            "XDG_CONFIG_HOME": None,
            "ANTHROPIC_API_KEY": None,
            "CLAUDE_CONFIG_DIR": None,
            **self.environment,
        }
        done = CliRunner().invoke(
            main, ["doctor", "--json", "--project", str(self.project), *self.options], env=environment
        )
        found = [Finding(**each) for each in json.loads(done.output)["findings"]]
        return [each for each in found if each.name == name and each.verdict != "ok"]

    def fault(self, name: str) -> str:
        """The advice about what was brought about."""
        found = self.findings(name)
        assert len(found) == 1, found
        return found[0].advice

    def _all(self) -> list[tuple[str, dict[str, Any]]]:
        return list(self.settings.items())


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


def run(advice: str) -> None:
    """What `Run: …` or `Run \\`…\\`` says, in a shell."""
    command = advice.split("`")[1] if "`" in advice else advice.removeprefix("Run: ")
    subprocess.run(command, shell=True, check=True, capture_output=True)


def advised() -> set[str]:
    """Every message that is given to a Finding as its advice: the fourth value, or what a variable of it was."""
    found = set()
    for file in SOURCES.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            values: list[ast.expr] = []
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Finding" and len(node.args) > 3:
                values = [node.args[3]]
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("advice", "run", "update"):
                values = [node.value]
            elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
                # `trouble`: a sentence, and the next step.
                values = [node.value.elts[1]]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "_check_private":
                values = [node.args[2]]
            for value in values:
                found |= {
                    str(each.value)
                    for each in ast.walk(value)
                    if isinstance(each, ast.Constant) and str(each.value).startswith("doctor.")
                }
    return found


def test_every_piece_of_advice_is_followed() -> None:
    assert advised() - FOLLOWED.keys() == set()
    assert {"doctor.run", "doctor.hooks.sync", "doctor.folder.shorter", "doctor.telegram.allow"} <= advised()
    assert [
        key for key in FOLLOWED if not texts.t(key, command="", bot="", database="", role="", install="", bundled="")
    ] == []


def test_a_settings_file_with_a_mistake(patient: Patient) -> None:
    patient.set("web", prot=1)
    assert patient.fault("settings") == "Fix these; other checks used defaults."
    del patient.settings["web"]["prot"]
    assert patient.findings("settings") == []


class Setting(NamedTuple):
    """A setting that is a fault, and what the advice says to set instead."""

    finding: str
    fault: dict[str, dict[str, Any]]
    advice: str
    cure: dict[str, dict[str, Any]]


SETTINGS = [
    Setting("sandbox", {"sandbox": {"preset": "off"}}, '[sandbox] preset = "open"', {"sandbox": {"preset": "open"}}),
    Setting("tls", {"web": {"host": "0.0.0.0"}}, "behind_proxy = true", {"web": {"behind_proxy": True}}),
    Setting("port", {"web": {"host": "192.0.2.1"}}, "Set [web] host to an address", {"web": {"host": "127.0.0.1"}}),
    Setting("port", {"web": {"host": "nowhere.invalid"}}, "Set [web] host to an", {"web": {"host": "localhost"}}),
    Setting("claude", {"claude": {"path": "/none"}}, "or set its path in [claude] path.", {"claude": {"path": ""}}),
    Setting("store", {"store": {"database": "/dev/null/x.db"}}, "Set another [store] database.", {"store": {}}),
]


@pytest.mark.parametrize("each", SETTINGS, ids=lambda each: f"{each.finding} {each.fault}")
def test_a_setting_is_changed_as_advised(patient: Patient, each: Setting) -> None:
    program = patient.settings["claude"]["path"]
    for section, values in each.fault.items():
        patient.set(section, **values)
    assert each.advice in patient.fault(each.finding)
    for section, values in each.cure.items():
        patient.set(section, **values)
        if section == "store":
            patient.set(section, database=str(patient.home / "private" / "hub.db"))
        if section == "claude":
            patient.set(section, path=program)
    assert patient.findings(each.finding) == []


def test_a_certificate_that_is_not_there(patient: Patient) -> None:
    pem, none = patient.home / "pem", patient.home / "none"
    make_certificate(pem, pem)
    patient.set("web", tls_cert=str(none), tls_key=str(pem))
    assert patient.fault("tls") == "Fix [web] tls_cert and tls_key."
    patient.set("web", tls_cert=str(pem))
    assert patient.findings("tls") == []


def test_a_port_that_somebody_uses(patient: Patient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        patient.set("web", port=other.getsockname()[1])
        assert "or set another [web] port" in patient.fault("port")
    assert patient.findings("port") == []  # "Stop the program that uses it"


def test_an_old_claude_is_updated_with_the_command_that_is_printed(patient: Patient) -> None:
    (patient.home / "version").write_text("2.1.197 (Claude Code)\n")
    run(patient.fault("claude"))
    assert patient.findings("claude") == []


@pytest.mark.parametrize("key", [None, "sk-ant-hunter2"])
def test_the_very_program_that_the_hub_runs_is_asked_and_signs_in(patient: Patient, key: str | None) -> None:
    (patient.home / "signed-in").unlink()
    # Another Claude on the PATH, which is signed in, doesn't matter.
    (patient.home / "bin").mkdir()
    other = patient.home / "bin" / "claude"
    other.write_text("#!/bin/sh\necho '{\"loggedIn\": true}'\n")
    other.chmod(0o755)
    patient.environment = {
        "PATH": f"{other.parent}:{os.environ['PATH']}",
        **({"ANTHROPIC_API_KEY": key} if key else {}),
    }
    advice = patient.fault("login")
    assert f"`{patient.home}/claude auth login`" in advice
    if key is not None:
        patient.set("claude", use_api_billing=True)
        assert patient.findings("login") == []
        patient.set("claude", use_api_billing=False)
    run(advice)
    assert patient.findings("login") == []


def test_a_state_folder_that_others_can_read(patient: Patient) -> None:
    patient.state = patient.home / "a state; with 'quotes'"
    patient.state.mkdir(mode=0o755)
    run(patient.fault("state"))
    assert patient.findings("state") == []


def test_a_token_that_others_can_read(patient: Patient) -> None:
    patient.file = patient.home / "my settings.toml"
    patient.set("telegram", token="123456:abcdefghijklmnopqrstuvwxyzabcdefghi", api="http://127.0.0.1:1", allowed=[1])
    patient.file.touch()
    patient.file.chmod(0o644)
    run(patient.fault("secrets"))
    assert patient.findings("secrets") == []


@pytest.mark.parametrize("by", ["--state", "$HANDRAISE_STATE"])
def test_a_folder_that_is_too_long_for_a_socket(
    patient: Patient, tmp_path_factory: pytest.TempPathFactory, by: str
) -> None:
    patient.state = patient.home / ("d" * 100)
    advice = patient.fault("state")
    assert by in advice
    short = tmp_path_factory.mktemp("s")
    if by == "--state":
        patient.options = ["--state", str(short)]
    else:
        patient.state = short
    assert patient.findings("state") == []


@pytest.mark.parametrize("name", ["state", "database"])
def test_a_state_that_this_version_cannot_use(patient: Patient, name: str) -> None:
    if name == "state":
        patient.state = patient.home / "version" / "below"  # a file is in the way
    else:
        asyncio.run(_newer(patient.state))
    assert "--state to choose another folder" in patient.fault(name)
    patient.options = ["--state", str(patient.home / "another")]
    assert patient.findings(name) == []


async def _newer(state: Path) -> None:
    state.mkdir(mode=0o700)
    async with SqliteStore(state / DATABASE):
        pass
    newer = apsw.Connection(str(state / DATABASE))
    newer.pragma("user_version", 1000)
    newer.close()


def test_a_damaged_database_is_restored_or_moved_away(patient: Patient) -> None:
    patient.state.mkdir(mode=0o700)
    environment = {
        "HOME": str(patient.home),
        "HANDRAISE_STATE": str(patient.state),
        "HANDRAISE_CONFIG": str(patient.file),
    }
    asyncio.run(_empty(patient.state))
    assert patient.findings("database") == []
    backup = str(patient.home / "backup.zip")
    assert CliRunner().invoke(main, ["backup", backup], env=environment).exit_code == 0
    (patient.state / DATABASE).write_bytes(b"this is no database" * 1000)

    advice = patient.fault("database")
    assert "restore a backup with: handraise restore FILE." in advice
    assert "move the file away" in advice
    restored = CliRunner().invoke(main, ["restore", backup, "--yes"], env=environment)
    assert restored.exit_code == 0, restored.output
    assert patient.findings("database") == []

    (patient.state / DATABASE).write_bytes(b"this is no database" * 1000)
    assert patient.fault("database") == advice
    (patient.state / DATABASE).rename(patient.home / "away.db")
    assert patient.findings("database") == []


async def _empty(state: Path) -> None:
    async with SqliteStore(state / DATABASE):
        pass


def test_settings_of_claude_that_are_not_json(patient: Patient) -> None:
    folder = patient.home / ".claude"
    sync_user(folder, HookEntry("http://127.0.0.1:8420/hooks/claude", "hr_secret"))
    before = (folder / "settings.json").read_text()
    (folder / "settings.json").write_text("{ not JSON")
    assert patient.fault("hooks") == "Fix the file."
    (folder / "settings.json").write_text(before)
    assert patient.findings("hooks") == []


@pytest.mark.parametrize("scope", [[], ["--user"]], ids=["a project's", "the user's"])
@pytest.mark.parametrize("place", ["shop", "."])
async def test_a_hook_with_another_address_is_written_again(tmp_path: Path, place: str, scope: list[str]) -> None:
    patient = Patient(tmp_path)
    patient.project = tmp_path / place
    patient.project.mkdir(exist_ok=True)
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    patient.environment = environment

    async def typed(words: list[str]) -> str:
        variables = {**environment, "HOME": str(tmp_path), "HANDRAISE_STATE": str(patient.state)}
        done = await asyncio.to_thread(CliRunner().invoke, main, words, env=variables)
        assert done.exit_code == 0, done.output
        return done.output

    async with served(tmp_path, environment=environment):
        await typed(["project", "add", str(patient.project), "--name", "shop"])
        await typed(["project", "sync", *([] if scope else ["shop"]), *scope])
        assert await asyncio.to_thread(patient.findings, "hooks") == []
    async with served(tmp_path, environment=environment):  # on another port
        advice = await asyncio.to_thread(patient.fault, "hooks")
        command = shlex.split(advice.split("`")[1])
        assert command == ["handraise", "project", "sync", *scope]
        here = Path.cwd()
        os.chdir(patient.project)
        try:
            await typed(command[1:])
        finally:
            os.chdir(here)
        assert await asyncio.to_thread(patient.findings, "hooks") == []


def sysctl(command: str, kernel: Path) -> None:
    """What `sudo sysctl` would do, in a copy of the kernel's files."""
    program, name, *assignments = shlex.split(command.removeprefix("Run: "))
    assert (program, name) == ("sudo", "sysctl")
    for each in assignments:
        key, value = each.split("=")
        file = kernel / key.removeprefix("fs.").replace(".", "/")
        assert Path("/proc/sys", key.replace(".", "/")).exists() or not Path("/proc/sys/fs").exists()
        file.write_text(f"{value}\n")


KernelCheck = Callable[[Path], Finding]


@pytest.mark.parametrize(
    ("check", "little"),
    [
        (lambda kernel: checks.check_pipes(11, kernel), "pipe-max-size"),
        (lambda kernel: checks.check_pipes(11, kernel), "pipe-user-pages-soft"),
        (checks.check_inotify, "inotify/max_user_watches"),
        (checks.check_inotify, "inotify/max_user_instances"),
    ],
)
def test_a_limit_of_the_kernel_is_raised_enough(tmp_path: Path, check: KernelCheck, little: str) -> None:
    (tmp_path / "inotify").mkdir()
    for name in ("pipe-max-size", "pipe-user-pages-soft", "inotify/max_user_watches", "inotify/max_user_instances"):
        (tmp_path / name).write_text("1048576\n")
    assert check(tmp_path).verdict == "ok"
    (tmp_path / little).write_text("0\n" if "instances" in little else "8\n")
    found = check(tmp_path)
    assert found.verdict == "warn"
    sysctl(found.advice, tmp_path)
    assert check(tmp_path).verdict == "ok"


def test_space_that_is_freed_is_seen(tmp_path: Path) -> None:
    assert checks.check_disk(tmp_path, 50 * 1024**2).advice == "Free up some space. Sessions are recorded there."
    assert checks.check_disk(tmp_path, 2 * 1024**3).verdict == "ok"


async def test_no_check_takes_longer_than_it_may(tmp_path: Path) -> None:
    """A Claude that never says anything, and pipes that nobody writes to in place of the hub's files."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    for name in ("hub.lock", "address", DATABASE):
        os.mkfifo(state / name)
    environ = {"HANDRAISE_CLAUDE_PATH": str(program), "HANDRAISE_STATE": str(state), "HANDRAISE_WEB_PORT": "0"}

    async with asyncio.timeout(60):
        report = await examine(environ, tmp_path, deadline=0.3)

    slow = {each.name for each in report.findings if each.sentence == "No result after 0.3 s."}
    assert {"claude", "login"} <= slow
    assert {each.name for each in report.findings} >= {"sandbox", "hub", "port", "state", "disk", "database", "pipes"}
    with suppress(OSError):  # what waits for a writer gets one
        for name in ("hub.lock", "address", DATABASE):
            os.close(os.open(state / name, os.O_WRONLY | os.O_NONBLOCK))
