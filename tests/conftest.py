"""Shared by every test."""

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from handraise import texts

# Otherwise each worker rewrites each test, and each program that a test starts compiles its modules again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

pytest_plugins = ["limits", "postgres.fixtures"]

# As from a terminal: `nohup` and background jobs of a shell leave some of these ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _each in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_each, signal.SIG_DFL)

# A busy machine isn't a bug. `make torture` checks a hundred times as many examples.
settings.register_profile("ours", deadline=None, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=4000)
settings.load_profile(os.environ.get("HANDRAISE_EXAMPLES", "ours"))


# Thousands of tests are collected, and stay: looking for garbage among them takes longer than many of them.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# People see a missing text as its key; here it is an error.
texts.strictly()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


COSTLY = (
    "stories",
    "browser",
    "attacks",
    "surfaces/suite",
    "surfaces/terminal",
    "cli",
    "demo",
    "store/test_round_trips.py",
    "store/test_twins.py",
    "api",
    "agents",
    "surfaces",
    "claude",
    "desk",
    "hub",
    "wire/test_connection.py",
    "session/test_machine_properties.py",
    "session/test_guard.py",
    "doctor",
    "store",
    "wire/test_decode.py",
    "test_limits.py",
    "test_lessons.py",
    "test_names.py",
    "test_import_table.py",
    "texts",
)
"""Folders and files that take long, slowest first: started early, so that nothing waits for them at the end."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tests = config.rootpath / "tests"
    ranks = {file: _rank(file, tests) for file in {item.path for item in items}}
    items.sort(key=lambda item: ranks[item.path])


def _rank(file: Path, tests: Path) -> int:
    return next((at for at, each in enumerate(COSTLY) if file.is_relative_to(tests / each)), len(COSTLY))
