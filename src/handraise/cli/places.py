"""Where things are on this machine."""

import os
from pathlib import Path

import click
import platformdirs


def state_folder(given: str | None) -> Path:
    """`--state`, then `$HANDRAISE_STATE`, then the platform's place."""
    named = given or os.environ.get("HANDRAISE_STATE")
    return Path(named).expanduser() if named else Path(platformdirs.user_state_dir("handraise"))


state_option = click.option(
    "--state", metavar="DIR", help="The hub's folder; $HANDRAISE_STATE, or the platform's place for state."
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
