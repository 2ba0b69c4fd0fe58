"""Options that several commands share, and what they mean."""

import io
import os
import sys
from pathlib import Path

import click

from handraise.cli.client import HubError
from handraise.client import state as client_state

__all__ = ["address_in", "here", "hub_option", "json_option", "piped", "state_folder", "state_option"]

state_option = click.option(
    "--state", metavar="DIR", help="The hub's folder (default: $HANDRAISE_STATE, or the platform's folder for state)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
hub_option = click.option(
    "--hub", metavar="URL", envvar="HANDRAISE_HUB", help="A hub on another machine. Put its token in $HANDRAISE_TOKEN."
)


def state_folder(named: str | None) -> Path:
    """The hub's folder: `--state`, then `$HANDRAISE_STATE`, then the platform's state folder."""
    return Path(client_state.state_folder(named))


def address_in(hub: str | None) -> str | None:
    """The address in `--hub`; raises UsageError if it isn't one."""
    if hub is not None and not hub.startswith(("http://", "https://")):
        raise click.UsageError(f"--hub needs a URL, for example https://{hub}.")
    return hub


def here() -> str:
    """The current directory; raises HubError if it no longer exists."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise HubError(
            400, "no_directory", "The current directory no longer exists. Change to another directory."
        ) from None


def piped() -> str:
    """All of stdin as UTF-8, whatever the locale; raises UnicodeDecodeError."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    return sys.stdin.read()
