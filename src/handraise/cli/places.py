"""Where things are on this machine, as options of commands."""

import io
import os
import sys
from pathlib import Path

import click

from handraise.cli.client import HubError
from handraise.client import state as client_state

__all__ = ["address_in", "here", "hub_option", "json_option", "piped", "state_folder", "state_option"]

state_option = click.option(
    "--state", metavar="DIR", help="The hub's folder; $HANDRAISE_STATE, or the platform's place for state."
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
hub_option = click.option(
    "--hub", metavar="URL", envvar="HANDRAISE_HUB", help="Another machine's hub; its token is in $HANDRAISE_TOKEN."
)


def state_folder(named: str | None) -> Path:
    """The hub's folder: `--state`, then `$HANDRAISE_STATE`, then the platform's folder for state."""
    return Path(client_state.state_folder(named))


def address_in(hub: str | None) -> str | None:
    """What `--hub` names, checked."""
    if hub is not None and not hub.startswith(("http://", "https://")):
        raise click.UsageError(f"--hub takes an address such as https://{hub}.")
    return hub


def here() -> str:
    """The directory that a command is typed in."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise HubError(400, "no_directory", "The current directory no longer exists. Change to another one.") from None


def piped() -> str:
    """All of stdin, which must be UTF-8 whatever the locale says; raises UnicodeDecodeError."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    return sys.stdin.read()
