"""The SQL statements, by name: a file in `queries/` holds several, each under a line `-- name: …`."""

import re
from importlib import resources


def _load() -> dict[str, str]:
    statements: dict[str, str] = {}
    for file in (resources.files(__package__) / "queries").iterdir():
        pieces = re.split(r"^-- name: (\w+)$", file.read_text("utf-8"), flags=re.MULTILINE)
        statements.update(zip(pieces[1::2], pieces[2::2], strict=True))
    return statements


SQL = _load()
