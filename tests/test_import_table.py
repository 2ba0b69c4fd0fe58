"""Imports, and modules without I/O: the table in the architecture page, checked for every file."""

import ast
import sys
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "handraise"

# Station: what it may use, of ours. Its own modules it may always use.
TABLE: dict[str, set[str]] = {
    "texts": set(),
    "model": {"texts"},
    "wire": set(),
    "demo": set(),
    "client": set(),
    "channels": {"model", "texts"},
    "present": {"model", "texts"},
    "policy": {"model", "texts"},
    "store": {"model", "texts"},
    "claude": {"model", "texts"},
    "workspace": {"model", "texts"},
    "desk": {"model", "client"},
    "feed": {"model", "store"},
    "auth": {"model", "texts", "store", "desk"},
    "inbox": {"model", "texts", "present", "store", "feed", "policy"},
    "agents": {"model", "texts", "client", "inbox"},
    "terminals": {"model", "present", "texts", "wire", "inbox", "store", "agents", "session"},
    "session": {"model", "texts", "present", "wire", "claude", "inbox", "feed", "store"},
    "hub": {"model", "texts", "store", "feed", "inbox", "claude", "session", "desk", "auth"},
    "surfaces": {"model", "texts", "present", "desk", "auth"},
    "reach": {"model", "texts", "present", "desk", "auth", "channels"},
    "api": {
        "model",
        "texts",
        "present",
        "desk",
        "auth",
        "agents",
        "store",
        "inbox",
        "session",
        "terminals",
        "workspace",
        "hub",
        "reach",
        "channels",
    },
    "config": {"model", "texts", "policy"},
    "backup": {"model", "texts", "store", "claude", "hub"},
    "doctor": {"model", "texts", "client", "channels", "config", "claude", "store", "workspace", "hub", "api"},
}
# These put the parts together, and are the only ones that know every part.
COMPOSITION = {"serving", "cli", "__init__", "__main__"}
# The person's own editor is started at the person's own terminal.
EDITOR = PurePosixPath("surfaces/terminal/editor.py")
# Each surface is independent: none knows another.
SURFACES = {"terminal", "telegram", "push", "webhooks"}

# Pure: no await, no clock, no chance, no I/O; time and ids are arguments. Whole stations, and of others what is named.
PURE_STATIONS = {"model", "wire", "policy", "present"}
IMPURE = {
    "session": {
        "runner",
        "news",
        "starting",
        "supervisor",
        "pool",
        "writers",
        "surroundings",
        "trust_check",
        "remote",
        "performer",
        "reviews",
    },
    "demo": {"model"},
}
# In stations that do something, the files that only decide.
PURE_FILES = {"surfaces/endpoints.py"}
PURE_FILES |= {f"surfaces/push/{name}.py" for name in ("due", "endpoints", "notices", "sealing")}
PURE_FILES |= {f"surfaces/webhooks/{name}.py" for name in ("events", "retries", "signing")}
PURE_FILES |= {
    f"surfaces/telegram/{name}.py"
    for name in (
        "attachments",
        "bot_types",
        "buttons",
        "cards",
        "chat_queue",
        "commands",
        "conversation",
        "deliveries",
        "final",
        "formatted",
        "incoming",
        "layout",
        "markdown",
        "methods",
        "outgoing",
        "pacing",
        "people",
        "progress",
        "refusals",
        "rendered",
        "session_texts",
    )
}
PURE_FILES |= {
    f"reach/{name}.py"
    for name in ("counts", "decision", "model", "picture", "quiet", "rounds", "statistics", "urgency", "words")
}
PURE_FILES |= {
    f"channels/{name}.py" for name in ("apprise_messages", "apprise_services", "mails", "ntfy_messages", "wording")
}
# An allowlist, so that an unexpected module isn't allowed. Each of these only computes.
# `datetime` has both sides: its types may be used, what looks at a clock may not.
ALLOWED = {
    "__future__", "abc", "base64", "bisect", "collections", "contextlib", "cryptography", "dataclasses", "datetime",
    "decimal", "difflib", "email.headerregistry", "email.message", "email.policy", "enum",
    "fractions", "functools", "hashlib", "heapq", "hmac", "html", "ipaddress", "itertools",
    "json", "markdown_it", "math", "msgspec", "operator", "posixpath", "re", "shlex", "string", "textwrap", "traceback",
    "tree_sitter", "tree_sitter_bash", "types", "typing", "unicodedata", "urllib.parse",
}  # fmt: skip
CLOCK = {"now", "utcnow", "today"}
DOING = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}


@cache
def imports(source: str, path: PurePosixPath) -> list[tuple[int, str]]:
    """Every module that the source imports, anywhere in it, by its whole name."""
    package = ["handraise", *path.parts[:-1]]
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, each.name) for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            # `from handraise import wire` names its station after the word import.
            is_ours = module in ("handraise", "handraise.surfaces")
            found += [(node.lineno, f"{module}.{each.name}" if is_ours else module) for each in node.names]
    return found


def station(path: PurePosixPath) -> str:
    return path.parts[0].removesuffix(".py")


def wrong_imports(source: str, path: PurePosixPath) -> list[str]:
    """What this file may not import, a sentence each."""
    own = station(path)
    if own in COMPOSITION:
        return []
    if own not in TABLE:
        return [f"{path}: the station {own} is not in the table"]
    may = TABLE[own] | {own}
    wrong = []
    for line, module in imports(source, path):
        words = module.split(".")
        if words[0] != "handraise" or len(words) < 2 or words[1].startswith("__"):
            continue
        if words[1] not in may:
            wrong.append(f"{path}:{line}: {own} may not use {words[1]}")
        elif own == "surfaces" and len(path.parts) > 2 and len(words) > 2 and words[1] == "surfaces":
            this, other = path.parts[1], words[2]
            if this in SURFACES and other in SURFACES - {this}:
                wrong.append(f"{path}:{line}: {this} may not know {other}")
    return wrong


def is_pure(path: PurePosixPath) -> bool:
    own = station(path)
    if str(path) in PURE_FILES:
        return True
    return own in PURE_STATIONS or (own in IMPURE and path.stem not in IMPURE[own] and path.stem != "__init__")


def impurities(source: str, path: PurePosixPath) -> list[str]:
    """What this file does besides computing, a sentence each."""
    wrong = [
        f"{path}:{line}: imports {module}"
        for line, module in imports(source, path)
        if not {module, module.split(".")[0]} & (ALLOWED | {"handraise"})
    ]
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                wrong.append(f"{path}:{node.lineno}: waits")
            case ast.Call(func=ast.Name(id=name)) if name in DOING:
                wrong.append(f"{path}:{node.lineno}: calls {name}")
            case ast.Attribute(attr=name) if name in CLOCK:
                wrong.append(f"{path}:{node.lineno}: looks at a clock ({name})")
    return wrong


def files() -> list[PurePosixPath]:
    return [PurePosixPath(path.relative_to(SOURCE).as_posix()) for path in sorted(SOURCE.rglob("*.py"))]


def test_a_station_imports_only_what_the_table_lets_it() -> None:
    assert [wrong for path in files() for wrong in wrong_imports((SOURCE / path).read_text(), path)] == []


def test_a_pure_module_computes_and_does_nothing_else() -> None:
    pure = [path for path in files() if is_pure(path)]
    assert [wrong for path in pure for wrong in impurities((SOURCE / path).read_text(), path)] == []


def test_the_launcher_runs_alone_on_the_standard_library() -> None:
    alone = {"broker", "namespaces", "shielding", "syscalls"}
    for name in ("launcher", *alone):
        for node in ast.walk(ast.parse((SOURCE / "claude" / f"{name}.py").read_text())):
            used = {each.name for each in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()
            if isinstance(node, ast.ImportFrom) and node.module != "handraise.claude":
                used = {(node.module or "").removeprefix("handraise.claude.")}
            assert {each.split(".")[0] for each in used} <= sys.stdlib_module_names | alone, name


def test_only_claude_starts_programs() -> None:
    starting = {"subprocess", "multiprocessing", "pty"}
    found = {
        path
        for path in files()
        for _, module in imports((SOURCE / path).read_text(), path)
        if module.split(".")[0] in starting and station(path) not in COMPOSITION
    }
    assert {path for path in found if station(path) != "claude"} <= {EDITOR}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("model/asks.py", "import handraise.store.sqlite"),
        ("wire/decode.py", "from handraise.model import asks"),
        ("wire/decode.py", "from handraise import model"),
        ("policy/shell.py", "def f():\n    from handraise.inbox import inbox"),
        ("store/memory/store.py", "from ... import feed"),
        ("store/memory/store.py", "from ...feed import publish"),
        ("inbox/inbox.py", "from handraise.session import machine"),
        ("claude/fifo.py", "from handraise.wire.encode import line"),
        ("session/runner.py", "from handraise.hub.desk import Local"),
        ("agents/mcp_server.py", "from handraise.store import interface"),
        ("desk/remote.py", "from handraise.inbox import inbox"),
        ("api/app.py", "from handraise.claude import claude"),
        ("api/app.py", "from handraise.surfaces.terminal import screen"),
        ("surfaces/push/due.py", "from handraise.surfaces import telegram"),
        ("hub/hub.py", "from handraise.api import app"),
        ("demo/model.py", "if True:\n    import handraise.wire.frames as frames"),
        ("newcomer/thing.py", "import json"),
    ],
)
def test_the_table_finds_what_is_forbidden(path: str, source: str) -> None:
    assert len(wrong_imports(source, PurePosixPath(path))) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("model/asks.py", "from handraise.model.ids import AskId\nimport msgspec"),
        ("feed.py", "from handraise.store.interface import Store"),
        ("hub/desk.py", "from handraise.inbox import inbox"),
        ("api/app.py", "from handraise.api import asks\nfrom handraise.desk import interface"),
        ("session/runner.py", "from handraise import wire, claude, __version__"),
        ("serving/serve.py", "from handraise.api import app\nfrom handraise.store import sqlite"),
        ("cli/main.py", "from handraise.demo import model"),
        ("demo/play.py", "from handraise.demo.request import Told"),
        ("store/memory/store.py", "from .shelves import Shelf\nfrom ..interface import Store"),
    ],
)
def test_the_table_lets_pass_what_is_allowed(path: str, source: str) -> None:
    assert wrong_imports(source, PurePosixPath(path)) == []


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio",
        "import os.path",
        "from time import monotonic",
        "import random",
        "import uuid",
        "from pathlib import Path",
        "import subprocess",
        "import apsw",
        "from starlette.responses import Response",
        "def f():\n    import socket",
        "from datetime import datetime\nx = datetime.now()",
        "import datetime\nclock = datetime.datetime.utcnow",
        "from datetime import date\nx = date.today()",
        "async def f(): pass",
        "x = open('file')",
        "print('x')",
    ],
)
def test_the_checker_finds_what_is_not_pure(source: str) -> None:
    assert len(impurities(source, PurePosixPath("wire/decode.py"))) == 1


def test_the_checker_lets_pure_code_pass() -> None:
    source = (
        "import json\nfrom datetime import datetime\nfrom handraise.model import ids\ndef f(now: datetime): return now"
    )
    assert impurities(source, PurePosixPath("policy/decide.py")) == []


def test_what_is_pure_is_said_of_the_right_files() -> None:
    assert is_pure(PurePosixPath("session/machine.py"))
    assert is_pure(PurePosixPath("session/translate.py"))
    assert is_pure(PurePosixPath("demo/play.py"))
    assert is_pure(PurePosixPath("surfaces/push/due.py"))
    assert not is_pure(PurePosixPath("surfaces/push/notifier.py"))
    assert not is_pure(PurePosixPath("session/runner.py"))
    assert not is_pure(PurePosixPath("demo/model.py"))
    assert not is_pure(PurePosixPath("store/interface.py"))
