"""Options that several commands share, and what they mean."""

import functools
import io
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from handraise.cli.client import HubClient, HubError
from handraise.client import state as client_state
from handraise.client.logins import HubChoice, LoginsUnfit, choose_hub

F = TypeVar("F", bound=Callable[..., Any])

MODES = ("default", "manual", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions")
"""As in `handraise.model.projects`, which takes longer to import than this command line."""

state_option = click.option(
    "--state", metavar="DIR", help="The hub's folder (default: $HANDRAISE_STATE, or the platform's folder for state)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
hub_option = click.option(
    "-H",
    "--hub",
    metavar="URL",
    help="A hub on another machine, or `local` (default: $HANDRAISE_HUB, or where you signed in with `handraise "
    "login`).",
)
yes_option = click.option("-y", "--yes", is_flag=True, help="Don't ask for confirmation.")


class ListGroup(click.Group):
    """Without a command, lists: `rules --json` is `rules list --json`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        starts_with_option = bool(args) and args[0].startswith("-") and args[0] not in ctx.help_option_names
        if not ctx.resilient_parsing and (not args or starts_with_option):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def on_hub(command: F) -> F:
    """Adds --hub and --state to a command, which gets the `client` they name instead."""

    @functools.wraps(command)
    def with_client(*arguments: Any, hub: str | None, state: str | None, **options: Any) -> Any:  # noqa: ANN401
        return command(*arguments, client=client_of(state, hub), **options)

    return cast("F", hub_option(state_option(with_client)))


def client_of(state: str | None, hub: str | None) -> HubClient:
    """The hub that the options name."""
    chosen = chosen_hub(state, hub)
    return HubClient(chosen.state, chosen.address, chosen.token, options=options_of(chosen, state))


def chosen_hub(state: str | None, hub: str | None) -> HubChoice:
    """The hub that the options name; raises UsageError or HubError."""
    try:
        return choose_hub(state, hub)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except LoginsUnfit as error:
        raise HubError(400, "logins", str(error)) from error


def options_of(chosen: HubChoice, state: str | None) -> str:
    """The options with which another command finds the same hub, quoted; empty if it finds it by itself."""
    if chosen.address is not None:
        return f" --hub {shlex.quote(chosen.address)}" if chosen.named else ""
    return f" --state {shlex.quote(state)}" if state else ""


def confirm(question: str, *, yes: bool) -> None:
    """Asks before something that can't be undone; raises Abort, or UsageError if nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Use --yes to do this without a question.")
    click.confirm(question, abort=True, err=True)


def state_folder(named: str | None) -> Path:
    """The hub's folder: `--state`, then `$HANDRAISE_STATE`, then the platform's state folder."""
    return Path(client_state.state_folder(named))


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


def file_content(path: str, option: str) -> str:
    """The text in a file; raises UsageError."""
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{option}: {path} isn't valid UTF-8 (byte {error.start}).") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise click.UsageError(f"{option}: can't read {path}: {why}.") from None
