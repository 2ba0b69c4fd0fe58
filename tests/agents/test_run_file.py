"""The file of a run: every field is checked, and nobody else can read it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from handraise.agents import run_file
from handraise.agents.run_file import BadRunFile

TOKEN = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
GOOD: dict[str, Any] = {
    "apiUrl": "http://localhost:8080",
    "streamToken": TOKEN,
    "userId": 1,
    "projectId": 5,
    "csrfToken": "abc123",
    "timeout": 300,
}


def test_the_example_of_the_specification_is_read() -> None:
    run = run_file.read(json.dumps(GOOD).encode())

    assert (run.host, run.port) == ("127.0.0.1", 8080)
    assert (run.stream_token, run.user, run.project, run.timeout) == (TOKEN, 1, "5", 300)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.0.0.1:8420", ("127.0.0.1", 8420)),
        ("http://LOCALHOST/", ("127.0.0.1", 80)),
        ("http://[::1]:9", ("::1", 9)),
        ("http://[::1]", ("::1", 80)),
    ],
)
def test_this_machine_has_several_names(url: str, place: tuple[str, int]) -> None:
    run = run_file.read(json.dumps({**GOOD, "apiUrl": url}).encode())

    assert (run.host, run.port) == place


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("apiUrl", "http://example.org:80", "must name this machine"),
        ("apiUrl", "http://127.0.0.1.example.org:80", "must name this machine"),
        ("apiUrl", "http://user@127.0.0.1:80", "must name this machine"),
        ("apiUrl", "http://127.0.0.1@example.org", "must name this machine"),
        ("apiUrl", "http://127.0.0.1:80@example.org", "no valid port"),
        ("apiUrl", "http://127.0.0.1#@example.org", "must name this machine"),
        ("apiUrl", "http://127.0.0.1?@example.org:80", "must name this machine"),
        ("apiUrl", "http://127.0.0.1\\@example.org", "must name this machine"),
        ("apiUrl", "http://localhost.example.org", "must name this machine"),
        ("apiUrl", "http://localhost.", "must name this machine"),
        ("apiUrl", "http://2130706433", "must name this machine"),
        ("apiUrl", "http://0x7f000001:80", "must name this machine"),
        ("apiUrl", "http://127.1:80", "must name this machine"),
        ("apiUrl", "http://0.0.0.0:80", "must name this machine"),
        ("apiUrl", "http://[::ffff:127.0.0.1]:80", "must name this machine"),
        ("apiUrl", "http://[::1%25eth0]:80", "must name this machine"),
        ("apiUrl", "http://[::1].example.org:80", "must name this machine"),
        ("apiUrl", "http://127.0.0.1 :80", "must name this machine"),
        ("apiUrl", "http://127.0.0.1\n:80", "must name this machine"),
        ("apiUrl", "http://", "must name this machine"),
        ("apiUrl", "http://127.0.0.1:", "no valid port"),
        ("apiUrl", "http://127.0.0.1:65536", "no valid port"),
        ("apiUrl", f"http://127.0.0.1:{'9' * 5000}", "no valid port"),
        ("apiUrl", "http://127.0.0.1:٨٠", "no valid port"),
        ("apiUrl", "file:///etc/passwd", "must be an address"),
        ("apiUrl", "http://127.0.0.1:0", "no valid port"),
        ("apiUrl", "http://127.0.0.1:80x", "no valid port"),
        ("apiUrl", "http://127.0.0.1:80/elsewhere", "must name this machine"),
        ("apiUrl", "https://127.0.0.1:80", "must be an address"),
        ("apiUrl", None, "must be an address"),
        ("streamToken", "../../etc/passwd", "must be a UUID"),
        ("streamToken", "g1b2c3d4-e5f6-7890-abcd-ef1234567890", "must be a UUID"),
        ("streamToken", 7, "must be a UUID"),
        ("userId", "1", "whole number"),
        ("userId", True, "whole number"),
        ("userId", -1, "whole number"),
        ("projectId", None, "whole number"),
        ("projectId", "", "whole number"),
        ("timeout", 29, "from 30 to 900"),
        ("timeout", 901, "from 30 to 900"),
        ("timeout", 60.5, "whole number"),
        ("csrfToken", 7, "must be text"),
        ("socket", "hub.sock", "must be an absolute path"),
        ("socket", 7, "must be an absolute path"),
    ],
)
def test_a_field_that_is_wrong_is_named(field: str, value: object, words: str) -> None:
    with pytest.raises(BadRunFile, match=words) as error:
        run_file.read(json.dumps({**GOOD, field: value}).encode())
    assert str(error.value).startswith(field)


def test_with_a_socket_the_address_is_for_others_and_must_still_be_of_this_machine() -> None:
    fields = {**GOOD, "socket": "/state/hub.sock", "apiUrl": "https://127.0.0.1:8420"}

    assert run_file.read(json.dumps(fields).encode()).socket == "/state/hub.sock"
    with pytest.raises(BadRunFile, match="must name this machine"):
        run_file.read(json.dumps({**fields, "apiUrl": "https://example.org"}).encode())


def test_the_timeout_may_be_left_out() -> None:
    contents = {key: value for key, value in GOOD.items() if key != "timeout"}

    assert run_file.read(json.dumps(contents).encode()).timeout == 300


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"[" * 60_000])
def test_what_is_no_json_object_is_refused(text: bytes) -> None:
    with pytest.raises(BadRunFile):
        run_file.read(text)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(GOOD))
    path.chmod(0o640)
    with pytest.raises(BadRunFile, match="Other users can read"):
        run_file.load(str(path))

    path.chmod(0o600)
    assert run_file.load(str(path)).stream_token == TOKEN


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRunFile, match="cannot be read: No such file"):
        run_file.load(str(tmp_path / "nothing.json"))


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o660, 0o620, 0o601])
def test_not_even_a_little_may_others_do_with_it(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(GOOD))
    path.chmod(mode)

    with pytest.raises(BadRunFile, match="Other users can read"):
        run_file.load(str(path))


def test_what_is_no_file_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o600)
    for name, words in (("fifo", "is not a file"), (".", "Is a directory"), ("\0", "not a valid path")):
        with pytest.raises(BadRunFile, match=words):
            run_file.load(f"{tmp_path}/{name}")


def test_a_file_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.touch(0o600)
    path.write_text(json.dumps({**GOOD, "more": "x" * 70_000}))

    with pytest.raises(BadRunFile, match="too large"):
        run_file.load(str(path))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.touch(0o600)
    path.write_text(json.dumps(GOOD))
    os.chown(path, 65534, 65534)

    with pytest.raises(BadRunFile, match="belongs to another user"):
        run_file.load(str(path))
