"""The compose file, as far as it can be checked without a container engine: its structure, settings and scripts."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from handraise.cli.main import main
from handraise.config.database import shared_database
from handraise.config.reading import read_settings
from postgres.cluster import Cluster
from postgres.fixtures import new_cluster

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
HUBS = {name: each for name, each in SERVICES.items() if each.get("image") == "handraise"}
CONTAINERFILE = (ROOT / "Containerfile").read_text()
# Of the Compose specification, those that we use.
KEYS = {
    "build", "cap_drop", "depends_on", "entrypoint", "environment", "healthcheck", "image", "init", "network_mode",
    "networks", "ports", "restart", "security_opt", "tty", "user", "volumes",
}  # fmt: skip


def test_every_key_is_one_of_the_specification() -> None:
    assert {key for key in COMPOSE if not key.startswith("x-")} == {"services", "networks", "volumes"}
    assert {key for service in SERVICES.values() for key in service} <= KEYS
    assert {*HUBS} == {"hub-a", "hub-b"}


def test_what_services_name_exists() -> None:
    for service in SERVICES.values():
        for name, wanted in service.get("depends_on", {}).items():
            assert wanted["condition"] in ("service_healthy", "service_completed_successfully")
            assert wanted["condition"] != "service_healthy" or "healthcheck" in SERVICES[name]
        assert {*service.get("networks", ())} <= {*COMPOSE["networks"]}
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert (ROOT / source).is_file() if source.startswith("./") else source in COMPOSE["volumes"]
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service["volumes"]}
    assert {*COMPOSE["volumes"]} <= used


def test_the_settings_of_each_hub_are_valid_and_their_own() -> None:
    seen = []
    for hub in HUBS.values():
        settings = read_settings("", hub["environment"])
        shared = shared_database(settings.store.database)
        assert shared is not None
        assert (shared.host, shared.has_password) == ("database", False)
        assert settings.store.password_file == "/secrets/password"
        seen.append((settings.machine.name, settings.web.port))
    assert seen == [("hub-a", 8420), ("hub-b", 8421)]


def test_nothing_is_reachable_from_other_machines() -> None:
    assert "ports" not in SERVICES["database"]
    assert SERVICES["database"]["networks"] == ["database"]
    assert COMPOSE["networks"]["database"]["internal"] is True
    for hub in HUBS.values():
        port = hub["environment"]["HANDRAISE_WEB_PORT"]
        # The same number inside and outside, so that the printed link is right.
        assert hub["ports"] == [f"127.0.0.1:{port}:{port}"]
        assert hub["tty"] is True
        assert "ALL" in hub["cap_drop"]


def test_hubs_never_see_the_superusers_password() -> None:
    for hub in HUBS.values():
        assert not any("database-secrets" in volume for volume in hub["volumes"])


def test_the_image_is_made_of_files_that_exist_and_runs_as_a_user_with_a_health_check() -> None:
    copied = [
        words for line in re.findall(r"^COPY (.*)$", CONTAINERFILE, re.MULTILINE) for words in [shlex.split(line)]
    ]
    for words in copied:
        assert words[0].startswith("--from=") or all((ROOT / each).exists() for each in words[:-1])
    assert 'sh /tmp/lock.sh "$CLAUDE" /tmp/requirements-hub.lock >/tmp/image.lock' in CONTAINERFILE
    assert "--require-hashes -r /tmp/image.lock" in CONTAINERFILE
    assert re.findall(r"^USER (.*)$", CONTAINERFILE, re.MULTILINE) == ["handraise"]
    assert "/api/health" in CONTAINERFILE.partition("HEALTHCHECK")[2]
    volumes = re.findall(r'"(/[a-z/]+)"', CONTAINERFILE.partition("VOLUME")[2].partition("\n")[0])
    for hub in HUBS.values():
        assert {volume.split(":")[1] for volume in hub["volumes"]} == {*volumes, "/secrets"}
    assert "useradd --uid 10001" in CONTAINERFILE


def test_the_lock_of_the_image_has_the_versions_that_the_tests_use() -> None:
    tested, image = (
        dict(re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements-dev.lock", "requirements-hub.lock")
    )
    assert {"asyncpg", "claude-agent-sdk"} <= {*image}
    assert {name: version for name, version in image.items() if tested.get(name) != version} == {}


def test_claude_code_is_in_the_image_by_choice() -> None:
    lock = ROOT / "requirements-hub.lock"

    def printed(choice: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", ROOT / "deploy" / "lock.sh", choice, lock], capture_output=True, text=True, check=False
        )

    assert printed("included").stdout == lock.read_text()
    without = re.findall(r"^([a-z0-9-]+)==", printed("none").stdout, re.MULTILINE)
    every = re.findall(r"^([a-z0-9-]+)==", lock.read_text(), re.MULTILINE)
    assert without == [each for each in every if each != "claude-agent-sdk"]
    assert printed("maybe").returncode == 2
    assert "ARG CLAUDE=included" in CONTAINERFILE


def test_one_hub_alone_keeps_its_state_and_is_reachable_from_this_machine_only() -> None:
    single = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    [hub] = single["services"].values()
    shared = SERVICES["hub-a"]
    assert {*hub} <= KEYS
    assert (ROOT / "deploy" / hub["build"]["context"] / hub["build"]["dockerfile"]).is_file()
    assert {name: hub[name] for name in ("cap_drop", "security_opt", "init", "restart", "image")} == {
        name: shared[name] for name in ("cap_drop", "security_opt", "init", "restart", "image")
    }
    settings = read_settings("", hub["environment"])
    assert settings.store.database is None
    assert hub["ports"] == [f"127.0.0.1:{settings.web.port}:{settings.web.port}"]
    assert {volume.split(":")[0] for volume in hub["volumes"]} == {*single["volumes"]}
    assert {volume.split(":")[1] for volume in hub["volumes"]} == {"/state", "/home/handraise", "/work"}


def test_the_unit_is_one_that_systemd_accepts_and_leaves_claudes_running(tmp_path: Path) -> None:
    unit = (ROOT / "deploy" / "handraise.service").read_text()
    assert re.findall(r"^KillMode=(.*)$", unit, re.MULTILINE) == ["process"]
    [command] = re.findall(r"^ExecStart=/opt/handraise/bin/handraise (.*)$", unit, re.MULTILINE)
    main.make_context("handraise", command.split(), resilient_parsing=True)
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    here = tmp_path / "handraise.service"
    # It also checks that the program exists, which is installed elsewhere here.
    here.write_text(unit.replace("/opt/handraise/bin/handraise", str(Path(sys.executable).with_name("handraise"))))
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", here], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.fixture
def fresh() -> Any:
    with new_cluster() as cluster:
        cluster.run("DROP DATABASE handraise_ready", "DROP ROLE handraise")
        yield cluster


def test_the_scripts_make_private_passwords_once_and_a_role_that_owns_only_its_database(
    tmp_path: Path, fresh: Cluster
) -> None:
    if shutil.which("psql") is None or os.getuid() != 0:
        pytest.skip("needs psql, and root for chown")
    for name in ("database-secrets", "hub-secrets"):
        (tmp_path / name).mkdir()
    for _ in range(2):
        subprocess.run(
            ["sh", ROOT / "deploy" / "passwords.sh"], env={**os.environ, "FOLDER": str(tmp_path)}, check=True
        )
    password = (tmp_path / "hub-secrets" / "password").read_text()
    assert re.fullmatch(r"[0-9a-f]{48}", password)
    assert (tmp_path / "database-secrets" / "handraise").read_text() == password
    assert (tmp_path / "database-secrets" / "superuser").read_text() != password
    for file, owner in (("hub-secrets/password", 10001), ("database-secrets/superuser", 999)):
        status = (tmp_path / file).stat()
        assert (status.st_uid, status.st_mode & 0o777) == (owner, 0o600)

    subprocess.run(
        ["sh", ROOT / "deploy" / "database.sh"],
        env={
            **os.environ,
            "POSTGRES_USER": "postgres",
            "PGHOST": str(fresh.folder),
            "PGPORT": str(fresh.port),
            "SECRETS": str(tmp_path / "database-secrets"),
        },
        check=True,
        stdout=subprocess.DEVNULL,
    )
    role = "rolsuper, rolcreatedb, rolcreaterole, rolcanlogin, rolpassword LIKE 'SCRAM%'"
    found = fresh.run(f"SELECT {role} FROM pg_authid WHERE rolname = 'handraise'")
    assert tuple(found[0]) == (False, False, False, True, True)
    owned = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'handraise'"
    assert fresh.run(owned)[0][0] == "handraise"
