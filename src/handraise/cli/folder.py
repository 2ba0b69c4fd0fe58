"""The hub's folder on this machine."""

import os
from pathlib import Path


def state_folder(given: str | None) -> Path:
    """`--state`, then `$HANDRAISE_STATE`, then the platform's place."""
    named = given or os.environ.get("HANDRAISE_STATE")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_state_dir("handraise"))
