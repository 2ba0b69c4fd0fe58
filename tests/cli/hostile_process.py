"""Runs commands in hostile environments, each in its own child: imports happen only once.

Reads lines from stdin, each a JSON list of cases; writes a line for each, a list of `[code, stdout, stderr]`. A case
has the words, and how its environment differs: `env` (None removes), `cwd`, `stdin` (base64), and for
`stdout`/`stderr` a file, or `closed`.
"""

import base64
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from handraise.cli import entry
from handraise.cli.commands import COMMANDS

_SECONDS = 30
Tried = list[tuple[dict[str, Any], int, str, str]]


class HostileStage:
    """The process, from outside: runs the cases it is given."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def tried(self, cases: list[dict[str, Any]]) -> Tried:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(cases) + "\n")
        self._process.stdin.flush()
        done = json.loads(self._process.stdout.readline())
        return [(case, *each) for case, each in zip(cases, done, strict=True)]


@contextmanager
def stage() -> Iterator[HostileStage]:
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield HostileStage(process)
        finally:
            process.kill()


def main() -> None:
    for module in {*COMMANDS.values(), "interactive_session", "answering", "background", "hub_settings"}:
        importlib.import_module(f"handraise.cli.{module}")
    importlib.import_module("handraise.serving.demo")
    for line in sys.stdin:
        sys.stdout.write(json.dumps([run(case) for case in json.loads(line)]) + "\n")
        sys.stdout.flush()


def run(case: dict[str, Any]) -> tuple[int, str, str]:
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            be(case, folder)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        texts = []
        for name in ("stdout", "stderr"):
            place = os.path.join(folder, name)
            with open(place, errors="replace") if os.path.exists(place) else open(os.devnull) as file:
                texts.append(file.read())
        return code, texts[0], texts[1]


def be(case: dict[str, Any], folder: str) -> None:
    """In the child: never returns."""
    signal.alarm(_SECONDS)
    for name, value in case.get("env", {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    with open(os.path.join(folder, "stdin"), "wb") as file:
        file.write(base64.b64decode(case.get("stdin", "")))
    os.chdir(case.get("cwd", folder))
    if case.get("cwd_gone"):
        gone = os.path.join(folder, "gone")
        os.mkdir(gone)
        os.chdir(gone)
        shutil.rmtree(gone)
    redirect(0, os.path.join(folder, "stdin"), os.O_RDONLY)
    for number, name in ((1, "stdout"), (2, "stderr")):
        place = case.get(name) or os.path.join(folder, name)
        if place == "closed":
            os.close(number)
        elif place == "broken":
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, number)
            os.close(writing)
        else:
            redirect(number, place, os.O_WRONLY | os.O_CREAT)
    # As Python itself would open them.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (until the child ends)
    sys.stdout = None if case.get("stdout") == "closed" else open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = None if case.get("stderr") == "closed" else open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["handraise", *case["words"]]
    code: object = 0
    try:
        entry.main()
    except SystemExit as left:
        code = left.code
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 99
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except OSError:
        os._exit(120)  # as Python exits when it can't flush
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def redirect(number: int, place: str, flags: int) -> None:
    opened = os.open(place, flags, 0o600)
    os.dup2(opened, number)
    os.close(opened)


if __name__ == "__main__":
    main()
