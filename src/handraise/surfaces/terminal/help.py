"""The keys, as `?` lists them. Pure."""

from handraise.surfaces.terminal.lines import EMPTY, Line, line, width_of
from handraise.texts import t

_KEYS = (
    ("card", ""),
    ("grant", "a, Enter"),
    ("refuse", "d"),
    ("choose", "1-9, ↑ ↓, Enter"),
    ("edit", "e"),
    ("read", "v"),
    ("turn", "j k"),
    ("postpone", "Esc"),
    ("reading", ""),
    ("scroll", "j k, ↑ ↓"),
    ("page", "Space, b"),
    ("ends", "g G"),
    ("search", "/"),
    ("back", "v, q, Esc"),
    ("writing", ""),
    ("send", "Enter"),
    ("new_line", "Alt-Enter"),
    ("always", ""),
    ("switch", "Tab"),
    ("interrupt", "Ctrl-C"),
    ("leave", "Ctrl-D"),
    ("help", "?"),
)
_LINES = (
    ("card", ""),
    ("plain_choose", "2"),
    ("plain_several", "1 3"),
    ("plain_none", "-"),
    ("plain_empty", '""'),
    ("plain_back", "<"),
    ("plain_postpone", ">"),
    ("always", ""),
    ("interrupt", "Ctrl-C"),
    ("leave", "Ctrl-D"),
    ("help", "?"),
)


def help_lines(*, plain: bool = False) -> list[Line]:
    """Every key and what it does; with `plain`, what can be typed."""
    table = _LINES if plain else _KEYS
    widest = max(width_of(key) for _, key in table)
    rows = [EMPTY]
    for name, key in table:
        if not key:
            rows.append(line(("bold", t(f"terminal.help.{name}"))))
        else:
            rows.append(line(("class:key", f"  {key}{' ' * (widest - width_of(key))}  "), t(f"terminal.help.{name}")))
    return rows
