"""Each check of the doctor, when all is well and when it isn't."""

import os
import socket
from pathlib import Path

import apsw
import pytest

from api.certificates import make_certificate
from handraise.config.settings import ClaudeSettings, WebSettings
from handraise.doctor import checks
from handraise.doctor.checks import Finding, Verdict
from handraise.hub.hub import HubConfig, hub
from handraise.store.sqlite.store import SqliteStore
from handraise.workspace.hook_entry import HookEntry
from handraise.workspace.user_settings import sync_user

SECRET = "sk-ant-hunter2"


def a_program(path: Path, says: str) -> str:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return str(path)


def kernel(folder: Path, **numbers: int) -> Path:
    (folder / "inotify").mkdir()
    for name, number in numbers.items():
        where = folder / "inotify" if name.startswith("max") else folder
        (where / (name if name.startswith("max") else name.replace("_", "-"))).write_text(f"{number}\n")
    return folder


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        ("2.1.325 (Claude Code)", "ok"),
        ("2.1.223 (Claude Code)", "ok"),
        ("2.1.222 (Claude Code)", "fail"),
        ("2.1.99 (Claude Code)", "fail"),
        ("no", "fail"),
    ],
)
async def test_the_cli_is_run_and_its_version_compared(tmp_path: Path, says: str, verdict: Verdict) -> None:
    finding = await checks.check_claude(ClaudeSettings(path=a_program(tmp_path / "claude", says)))

    assert finding.verdict == verdict
    assert str(tmp_path / "claude") in finding.sentence
    assert bool(finding.advice) == (verdict != "ok")


@pytest.mark.parametrize(("allowed", "plan"), [(False, "Plan mode is refused."), (True, "Plan mode is allowed.")])
async def test_an_unsafe_cli_is_named_as_unsafe(tmp_path: Path, *, allowed: bool, plan: str) -> None:
    program = a_program(tmp_path / "claude", "2.1.197 (Claude Code)")

    finding = await checks.check_claude(ClaudeSettings(path=program, allow_unsafe_plan_mode=allowed))

    assert "It is unsafe: before 2.1.223" in finding.sentence
    assert plan in finding.sentence
    assert finding.advice == f"Run: {program} update"


async def test_a_cli_that_is_not_there_comes_with_how_to_get_one(tmp_path: Path) -> None:
    finding = await checks.check_claude(ClaudeSettings(path=str(tmp_path / "claude")))

    assert finding.sentence == f"There is no Claude Code at {tmp_path / 'claude'}, the configured path."
    assert finding.advice.startswith("Install Claude Code")


def test_a_login_is_told_by_its_file_which_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    os.mkfifo(tmp_path / ".claude" / ".credentials.json")

    finding = checks.check_login(ClaudeSettings(), {"ANTHROPIC_API_KEY": SECRET}, tmp_path)

    assert finding.verdict == "ok"
    assert "ANTHROPIC_API_KEY is set, but not passed to Claude." in finding.sentence
    assert SECRET not in repr(finding)


def test_without_a_login_a_key_pays_only_if_the_settings_say_so(tmp_path: Path) -> None:
    key = {"ANTHROPIC_API_KEY": SECRET}

    assert checks.check_login(ClaudeSettings(), {}, tmp_path).verdict == "warn"
    assert "use_api_billing = true" in checks.check_login(ClaudeSettings(), key, tmp_path).advice
    assert checks.check_login(ClaudeSettings(use_api_billing=True), key, tmp_path).verdict == "ok"
    assert checks.check_login(ClaudeSettings(use_api_billing=True), {}, tmp_path).verdict == "warn"


def test_a_login_is_looked_for_where_claude_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ".credentials.json").touch()
    (tmp_path / ".claude.json").touch()

    assert checks.check_login(ClaudeSettings(), {}, tmp_path).sentence.startswith("Claude Code was used here,")
    there = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert checks.check_login(ClaudeSettings(), there, tmp_path).verdict == "ok"


async def test_a_running_hub_is_told_with_its_process_and_address(tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert checks.running_hub(state) is None

    async with hub(HubConfig(state, Path("/bin/false"), {})):
        (state / "address").write_text("http://127.0.0.1:8420")
        process = checks.running_hub(state)

        assert process == str(os.getpid())
        assert checks.check_hub(state, process).sentence == (
            f"A hub is running at http://127.0.0.1:8420 (process {os.getpid()})."
        )
    assert checks.running_hub(state) is None
    assert checks.check_hub(state, None).sentence == "No hub is running."


def test_a_port_that_somebody_has_is_in_the_way_unless_a_hub_has_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        receipt = WebSettings(port=other.getsockname()[1])

        assert checks.check_port(receipt, hub_runs=False).verdict == "fail"
        assert checks.check_port(receipt, hub_runs=True).verdict == "ok"
    assert checks.check_port(receipt, hub_runs=False).verdict == "ok"


def test_an_address_that_is_not_ours_cannot_be_listened_on() -> None:
    finding = checks.check_port(WebSettings(host="192.0.2.1", port=0), hub_runs=False)

    assert (finding.verdict, finding.advice) == ("fail", "Set [web] host to an address of this machine.")


def test_the_hub_is_not_exposed_in_the_clear(tmp_path: Path) -> None:
    pem, none = str(tmp_path / "pem"), str(tmp_path / "none")
    make_certificate(tmp_path / "pem", tmp_path / "pem")
    everywhere = "0.0.0.0"

    assert checks.check_exposure(WebSettings()).verdict == "ok"
    assert checks.check_exposure(WebSettings(host=everywhere)).verdict == "fail"
    assert checks.check_exposure(WebSettings(host=everywhere, behind_proxy=True)).verdict == "ok"
    assert checks.check_exposure(WebSettings(host=everywhere, tls_cert=pem, tls_key=pem)).verdict == "ok"
    unreadable = checks.check_exposure(WebSettings(tls_cert=pem, tls_key=none))
    assert (unreadable.verdict, unreadable.sentence) == ("fail", f"Can't read {none}: No such file or directory.")


def test_a_state_folder_must_be_ours_alone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert checks.check_state(state).verdict == "ok"
    state.mkdir(mode=0o700)
    assert checks.check_state(state).verdict == "ok"

    state.chmod(0o750)

    assert checks.check_state(state) == Finding(
        "state", "fail", f"Other users can access {state}.", f"Run: chmod 700 {state}"
    )


def test_a_disk_without_room_is_told_before_it_is_full(tmp_path: Path) -> None:
    assert checks.check_disk(tmp_path, 2 * 1024**3).sentence == f"{tmp_path}: 2.0 GiB free"
    assert checks.check_disk(tmp_path, 500 * 1024**2).verdict == "warn"
    assert checks.check_disk(tmp_path, 50 * 1024**2).verdict == "fail"
    assert checks.free_bytes(tmp_path / "not" / "yet") > 0


async def test_a_database_opens_or_says_why_not(tmp_path: Path) -> None:
    file = tmp_path / "hub.db"
    assert checks.check_database(file).verdict == "ok"
    assert not file.exists()
    async with SqliteStore(file):
        assert checks.check_database(file).sentence.startswith("The database opens (schema ")

    newer = apsw.Connection(str(file))
    newer.pragma("user_version", 1000)
    newer.close()
    assert checks.check_database(file).verdict == "fail"
    file.write_bytes(b"this is no database" * 1000)
    damaged = checks.check_database(file)
    assert (damaged.verdict, "is damaged" in damaged.sentence) == ("fail", True)


def test_pipes_must_be_large_enough_for_every_session(tmp_path: Path) -> None:
    folder = kernel(tmp_path, pipe_max_size=1048576, pipe_user_pages_soft=2560)

    assert checks.check_pipes(10, folder).verdict == "ok"
    assert checks.check_pipes(11, folder) == Finding(
        "pipes", "warn", "Only 10 of 11 sessions can have large pipes.", "Run: sudo sysctl fs.pipe-user-pages-soft=2816"
    )
    (folder / "pipe-max-size").write_text("65536")
    assert checks.check_pipes(1, folder).verdict == "warn"
    assert checks.check_pipes(1, tmp_path / "none").verdict == "ok"


def test_a_hook_that_calls_another_address_is_named(tmp_path: Path) -> None:
    assert "project sync" in checks.check_hooks(tmp_path, "7", tmp_path / "claude", None).sentence
    (tmp_path / "address").write_text("http://127.0.0.1:8420")
    sync_user(tmp_path / "claude", HookEntry("http://127.0.0.1:8420/hooks/claude", "hr_secret"))
    assert checks.check_hooks(tmp_path, "7", tmp_path / "claude", tmp_path).verdict == "ok"

    (tmp_path / "address").write_text("http://127.0.0.1:9000")
    found = checks.check_hooks(tmp_path, "7", tmp_path / "claude", tmp_path)
    assert (found.verdict, "project sync" in found.advice, "hr_secret" in found.sentence) == ("warn", True, False)
    assert checks.check_hooks(tmp_path, None, tmp_path / "claude", None).verdict == "ok"
    (tmp_path / "claude" / "settings.json").write_text("{ not JSON")
    assert checks.check_hooks(tmp_path, "7", tmp_path / "claude", None).verdict == "warn"


def test_inotify_must_let_us_watch_journals(tmp_path: Path) -> None:
    folder = kernel(tmp_path, max_user_instances=128, max_user_watches=65536)

    assert checks.check_inotify(folder).verdict == "ok"
    (folder / "inotify" / "max_user_watches").write_text("8")
    assert checks.check_inotify(folder).verdict == "warn"
    assert checks.check_inotify(tmp_path / "none").verdict == "ok"


def test_a_token_that_others_can_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "handraise.toml"
    file.touch(0o644)

    finding = checks.check_secrets(file, has_token=True)

    assert finding is not None
    assert finding.advice == f"Run: chmod 600 {file}"
    assert checks.check_secrets(file, has_token=False) is None
    file.chmod(0o600)
    assert checks.check_secrets(file, has_token=True) is None
