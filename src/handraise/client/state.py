"""Finds the hub's state folder. Imports almost nothing: every command and every relay starts with it."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # type checkers treat this name as true; importing `typing` would cost each command 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "HANDRAISE_STATE"


def state_folder(named: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """The given folder (`--state`), else `$HANDRAISE_STATE`, else the platform's state folder."""
    named = named or (os.environ if environ is None else environ).get(VARIABLE)
    return os.path.expanduser(named) if named else usual_state_folder()


def usual_state_folder() -> str:
    """The platform's state folder, as `platformdirs` would name it; importing that takes too long."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/state")
    return os.path.join(base, "handraise")
