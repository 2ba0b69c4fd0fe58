"""The sessions as a table. Imports next to nothing: `handraise ps` takes hardly longer than Python itself."""

import json
import os
import shutil
import sys
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from handraise.cli.neighbour import Neighbour
from handraise.cli.plain import plain

_ORDER = {"needs you": 0, "failed": 1, "lost": 1, "not moving": 1, "working": 2, "starting": 2, "queued": 3, "idle": 4}
_COLOURS = {"needs you": "1;33", "failed": "31", "lost": "31", "not moving": "31", "working": "32"}
_TITLE_AT = 54


def listing(neighbour: Neighbour, *, as_json: bool) -> list[str]:
    """The lines of `handraise ps`."""
    sessions = neighbour.get("/api/sessions")["sessions"]
    if as_json:
        return [json.dumps(session) for session in sessions]
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else 10_000
    return table(sessions, datetime.now(UTC), width, coloured=terminal and not os.environ.get("NO_COLOR"))


def table(sessions: list[dict[str, Any]], now: datetime, width: int, *, coloured: bool) -> list[str]:
    """The sessions, a line each; a line that says how to begin where there are none."""
    if not sessions:
        return ['No sessions yet. Start one with: handraise run "…"']
    ordered = sorted(sessions, key=lambda each: _ORDER.get(each["state"], 5))
    return [_row(each, now, width, coloured=coloured) for each in ordered]


def _row(session: dict[str, Any], now: datetime, width: int, *, coloured: bool) -> str:
    state = session["state"]
    asks = f"{session['open_asks']} open" if session["open_asks"] else ""
    age = _age(now - datetime.fromisoformat(session["changed_at"]))
    told = f"\x1b[{_COLOURS[state]}m{state:<10}\x1b[0m" if coloured and state in _COLOURS else f"{state:<10}"
    head = f"{session['id']}  {told} {asks:<7} {age:>6} {session['cost_usd']:>8.4f} $  "
    taken = len(session["id"]) + _TITLE_AT - 14
    return head + _cut(plain(session["title"]), max(10, width - taken))


def _age(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name}"
    return f"{seconds} s"


def _cut(text: str, width: int) -> str:
    taken = 0
    for at, letter in enumerate(text):
        taken += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if taken > width:
            return text[: max(0, at - 1)] + "…"
    return text
