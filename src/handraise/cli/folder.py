"""The hub's folder on this machine."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in `neighbour.py`
if TYPE_CHECKING:
    from pathlib import Path


def state_folder(given: str | None) -> Path:
    """`--state`, then `$HANDRAISE_STATE`, then the platform's place."""
    from pathlib import Path

    return Path(state_path(given))


def state_path(given: str | None) -> str:
    """The same, without what makes paths of it."""
    named = given or os.environ.get("HANDRAISE_STATE")
    if named:
        return os.path.expanduser(named)
    if sys.platform == "linux":
        # What platformdirs says, too, after an import that takes longer than to ask the hub.
        base = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.expanduser("~/.local/state")
        return f"{base}/handraise"
    import platformdirs

    return platformdirs.user_state_dir("handraise")
