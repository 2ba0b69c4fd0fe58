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
_HEADERS = {
    "id": "ID",
    "state": "STATE",
    "asks": "REQUESTS",
    "age": "CHANGED",
    "cost": "COST",
    "machine": "MACHINE",
    "terminal": "WHERE",
    "project": "PROJECT",
}
_TITLED = "TITLE"
_TITLE = 20
"""Other columns are dropped until the title has this many."""
_PROJECT = 16
_ENDLESS = 10_000


def listing(client: HubClient, *, as_json: bool) -> list[str]:
    """The lines of `handraise ps`: a table in a terminal, with headers and as wide as that is."""
    sessions = list(client.pages("/api/sessions", "sessions"))
    if as_json:
        import json

        return [json.dumps(session) for session in sessions]
    return shown(client, sessions)


def shown(client: HubClient, sessions: list[dict[str, Any]], *, wide: bool = False, narrow: bool = False) -> list[str]:
    """The sessions as a table for stdout; `wide` cuts nothing, `narrow` has only ID, state and title."""
    terminal = sys.stdout.isatty()
    width = os.get_terminal_size(sys.stdout.fileno()).columns if terminal and not wide else _ENDLESS
    return table(
        sessions,
        datetime.now(UTC),
        width or _ENDLESS,
        coloured=terminal and in_colours(),
        machines=machines(client, sessions),
        headers=terminal,
        narrow=narrow,
    )


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
    headers: bool = False,
    narrow: bool = False,
) -> list[str]:
    """One line per session; without sessions, a line that says how to start one. `machines` are names by ID."""
    if not sessions:
        return ['No sessions yet. Start one with: handraise run "…"']
    ordered = sorted(sessions, key=lambda each: _ORDER.get(each["state"], 5))
    columns = _columns(ordered, now, machines or {})
    if narrow:
        columns = {name: columns[name] for name in ("id", "state")}
    wide = {name: max(width_of(cell) for cell in cells) for name, cells in columns.items()}
    if headers:
        wide = {name: max(widest, len(_HEADERS[name])) if widest else 0 for name, widest in wide.items()}
    shown = _fitting([name for name in columns if wide[name]], wide, width)
    used = sum(wide[name] + 2 for name in shown)
    rows = []
    if headers:
        row = "".join(f"{_HEADERS[name]:<{wide[name] + 2}}" for name in shown) + _TITLED
        rows.append(_painted(cut(row, width), _DIM if coloured else ""))
    for number, session in enumerate(ordered):
        cells = [_cell(columns[name][number], wide[name], _style(name, session), coloured) for name in shown]
        rows.append("".join(cells) + _title(session, width - used, last=width < _ENDLESS, coloured=coloured))
    return rows


def width_of(text: str) -> int:
    """How many terminal columns the text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    flat = ("Mn", "Me", "Cf")
    return sum(0 if category(each) in flat else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns; an ellipsis says that there is more."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return f"{text}…" if width > 0 else ""


def harmless(text: str) -> str:
    """On one line, without anything that could move the cursor or color it: that is marked, as on every surface."""
    if text.isprintable():
        return text
    from handraise.present.harmless import seal

    return seal(text)


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
