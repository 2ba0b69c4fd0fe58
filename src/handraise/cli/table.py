"""The sessions as a table. Imports almost nothing: `handraise ps` should start about as fast as Python itself."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta

TYPE_CHECKING = False  # as in `client.py`
if TYPE_CHECKING:
    from typing import Any

    from handraise.cli.client import HubClient

_ORDER = {"needs you": 0, "failed": 1, "lost": 1, "not moving": 1, "working": 2, "starting": 2, "queued": 3, "idle": 4}
_COLOURS = {"needs you": "1;33", "failed": "31", "lost": "31", "not moving": "31", "working": "32"}
_DIM = "2"
_TITLE = 20
"""Other columns are dropped until the title has this many."""
_PROJECT = 16
_ENDLESS = 10_000


def listing(client: HubClient, *, as_json: bool, machine: str | None = None) -> list[str]:
    """The lines of `handraise ps`; `machine` is the ID of one, or None for all."""
    sessions = list(client.pages("/api/sessions", "sessions", machine=machine))
    if as_json:
        import json

        return [json.dumps(session) for session in sessions]
    terminal = sys.stdout.isatty()
    width = os.get_terminal_size(sys.stdout.fileno()).columns if terminal else _ENDLESS
    coloured = terminal and in_colours()
    return table(sessions, datetime.now(UTC), width or _ENDLESS, coloured=coloured, machines=machines(client, sessions))


def machines(client: HubClient, sessions: list[dict[str, Any]]) -> dict[str, str]:
    """The names of machines by ID, if some of the sessions are on another one; otherwise nobody has to ask for them."""
    if not {each.get("machine", "") for each in sessions} - {"", client.own_machine()}:
        return {}
    found = client.get("/api/machines")["machines"]
    if len(found) < 2:
        return {}
    names = {}
    for each in found:
        names[each["id"]] = f"{each['name']} (away)" if each["away_since"] else each["name"]
        if each["here"]:
            names[""] = names[each["id"]]
    return names


def in_colours() -> bool:
    """Whether the terminal may be coloured."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def table(
    sessions: list[dict[str, Any]],
    now: datetime,
    width: int,
    *,
    coloured: bool,
    machines: dict[str, str] | None = None,
) -> list[str]:
    """One line per session; without sessions, a line that says how to start one. `machines` are names by ID."""
    if not sessions:
        return ['No sessions yet. Start one with: handraise run "…"']
    ordered = sorted(sessions, key=lambda each: _ORDER.get(each["state"], 5))
    columns = _columns(ordered, now, machines or {})
    wide = {name: max(width_of(cell) for cell in cells) for name, cells in columns.items()}
    shown = _fitting([name for name in columns if wide[name]], wide, width)
    used = sum(wide[name] + 2 for name in shown)
    rows = []
    for number, session in enumerate(ordered):
        cells = [_cell(columns[name][number], wide[name], _style(name, session), coloured) for name in shown]
        rows.append("".join(cells) + _title(session, width - used, last=width < _ENDLESS, coloured=coloured))
    return rows


def width_of(text: str) -> int:
    """How many terminal columns the text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(each) in ("Mn", "Me") else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns; an ellipsis says that there is more."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return f"{text}…" if width > 0 else ""


def harmless(text: str) -> str:
    """Without anything that could move the cursor or color the line."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def _columns(sessions: list[dict[str, Any]], now: datetime, machines: dict[str, str]) -> dict[str, list[str]]:
    """The cells of each column, in order."""
    places = [harmless(each["directory"].rstrip("/").rpartition("/")[2]) for each in sessions]
    return {
        "id": [each["id"] for each in sessions],
        "state": [each["state"] for each in sessions],
        "asks": [f"{each['open_asks']} open" if each["open_asks"] else "" for each in sessions],
        "age": [_age(now - datetime.fromisoformat(each["changed_at"])) for each in sessions],
        "cost": [f"${each['cost_usd']:.4f}" for each in sessions],
        "machine": [cut(harmless(machines.get(each.get("machine", ""), "")), _PROJECT) for each in sessions],
        "terminal": ["in a terminal" if each.get("terminal") and not each.get("ended") else "" for each in sessions],
        "project": [cut(each, _PROJECT) if len(set(places)) > 1 else "" for each in places],
    }


def _fitting(names: list[str], wide: dict[str, int], width: int) -> list[str]:
    """The columns that fit next to a title."""
    for least in ("project", "terminal", "cost", "machine", "asks", "age"):
        if sum(wide[name] + 2 for name in names) + _TITLE <= width:
            break
        names = [name for name in names if name != least]
    return names


def _cell(text: str, width: int, style: str, coloured: bool) -> str:
    gap = " " * (width - width_of(text) + 2)
    return _painted(text, style if coloured else "") + gap


def _style(name: str, session: dict[str, Any]) -> str:
    return str(_COLOURS.get(session["state"], "")) if name == "state" else "" if name in ("asks", "age") else _DIM


def _title(session: dict[str, Any], width: int, *, last: bool, coloured: bool) -> str:
    title = cut(harmless(session["title"]), max(8, width))
    room = width - width_of(title) - 3
    line = (
        cut(harmless(session.get("dialog") or session.get("last_line") or ""), room) if last and room >= _TITLE else ""
    )
    return title + (_painted(f" · {line}", _DIM if coloured else "") if line else "")


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def _age(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name}"
    return f"{seconds} s"
