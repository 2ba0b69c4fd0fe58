"""The entry point of `handraise`. What runs often skips the other commands' imports: `mcp`, `ps`, `inbox` and help."""

import sys

TYPE_CHECKING = False  # as in `client.py`
if TYPE_CHECKING:
    from collections.abc import Callable

    from handraise.cli.client import HubClient


def main() -> None:
    """`mcp` goes straight to the relay; everything else is a click command."""
    _open_standard_streams()
    if sys.argv[1:2] == ["mcp"]:
        from handraise.agents.relay import main as relay

        sys.exit(relay(sys.argv[2:]))
    try:
        try:
            _perform()
        finally:
            sys.stdout.flush()  # here, where a failure can still be reported
    except (Exception, KeyboardInterrupt) as error:  # the outermost level, also for errors outside a command
        from handraise.cli.errors import leave

        sys.exit(leave(error))


def _perform() -> None:
    words = sys.argv[1:]
    if words in (["--help"], ["-h"]):
        from handraise.cli.commands import overview

        sys.stdout.write(overview())
        return
    if words in (["--version"], ["-V"]):
        from handraise import __version__

        sys.stdout.write(f"handraise, version {__version__}\n")
        return
    if words == ["inbox", "--json"] and _printed(_open_requests):
        return
    if words in (["ps"], ["ps", "--json"]) and _printed(_sessions):
        return
    if words[:1] == ["serve"]:
        import gc

        # Until the hub is up: what is loaded stays, and looking for garbage in it is an eighth of the start.
        gc.disable()
    from handraise.cli.main import main as command

    command()


def _printed(rows: "Callable[[HubClient], list[str]]") -> bool:
    """A list without click; False if it failed, and the command itself then reports why."""
    from handraise.cli.client import HubClient, HubError, NoHub
    from handraise.client.logins import LoginsUnfit, choose_hub

    try:
        chosen = choose_hub(None, None)
        found = rows(HubClient(chosen.state, chosen.address, chosen.token))
        sys.stdout.write("".join(f"{row}\n" for row in found))
        sys.stdout.flush()
    except (NoHub, HubError, LoginsUnfit, ValueError):
        return False
    return True


def _sessions(client: "HubClient") -> list[str]:
    from handraise.cli.table import listing

    return listing(client, as_json="--json" in sys.argv)


def _open_requests(client: "HubClient") -> list[str]:
    import json

    asks = client.pages("/api/asks", "asks", state="open")
    # The card is for who shows it: what it says is in the rest.
    shown = ({name: each[name] for name in each if name != "card"} for each in asks)
    return [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in shown]


def _open_standard_streams() -> None:
    """If one was closed, the next file to be opened would take its number and receive the output."""
    import os

    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 (a descriptor, until we end)
