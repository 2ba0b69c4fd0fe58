"""The entry point of `handraise`. `mcp` runs for every agent and `ps` often: both skip the other commands' imports."""

import sys


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
    if sys.argv[1:] in (["ps"], ["ps", "--json"]) and _listed(as_json="--json" in sys.argv):
        return
    from handraise.cli.main import main as command

    command()


def _listed(*, as_json: bool) -> bool:
    """`ps` without click; False if it failed, and the command itself then reports why."""
    from handraise.cli.client import HubClient, HubError, NoHub
    from handraise.cli.table import listing
    from handraise.client.logins import LoginsUnfit, choose_hub

    try:
        chosen = choose_hub(None, None)
        rows = listing(HubClient(chosen.state, chosen.address, chosen.token), as_json=as_json)
        sys.stdout.write("".join(f"{row}\n" for row in rows))
        sys.stdout.flush()
    except (NoHub, HubError, LoginsUnfit, ValueError):
        return False
    return True


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
