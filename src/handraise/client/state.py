"""Finds the hub's state folder. Imports next to nothing: every command and every relay starts with it."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # type checkers take the name for true; importing `typing` would cost each command 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "HANDRAISE_STATE"


def state_folder(named: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """The folder that is named (`--state`), else `$HANDRAISE_STATE`, else the platform's folder for state."""
    named = named or (os.environ if environ is None else environ).get(VARIABLE)
    return os.path.expanduser(named) if named else usual_state_folder()


def usual_state_folder() -> str:
    """The platform's folder for state: the one that `platformdirs` names, which takes too long to import."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/state")
    return os.path.join(base, "handraise")
