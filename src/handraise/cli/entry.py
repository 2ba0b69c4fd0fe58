"""Where the `handraise` command begins. A relay runs for each agent, `ps` at every turn: neither pays for others."""

import sys


def main() -> None:
    """`mcp` is carried by the relay; everything else is a command."""
    _open_standard_streams()
    if sys.argv[1:2] == ["mcp"]:
        from handraise.agents.relay import main as relay

        sys.exit(relay(sys.argv[2:]))
    try:
        try:
            _perform()
        finally:
            sys.stdout.flush()  # here, where it can be told that it failed
    except (Exception, KeyboardInterrupt) as error:  # the outer door: what happens outside of a command, too
        from handraise.cli.errors import leave

        sys.exit(leave(error))


def _perform() -> None:
    if sys.argv[1:] in (["ps"], ["ps", "--json"]) and _listed(as_json="--json" in sys.argv):
        return
    from handraise.cli.main import main as command

    command()


def _listed(*, as_json: bool) -> bool:
    """`ps` without what reads a command line; whatever goes wrong is told by the command itself."""
    from handraise.cli.client import HubClient, HubError, NoHub
    from handraise.cli.table import listing
    from handraise.client.state import state_folder

    try:
        rows = listing(HubClient(state_folder()), as_json=as_json)
        sys.stdout.write("".join(f"{row}\n" for row in rows))
        sys.stdout.flush()
    except (NoHub, HubError):
        return False
    return True


def _open_standard_streams() -> None:
    """Where one was closed, the next file that is opened would take its place, and get what is printed."""
    import os

    for number, name, way in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, way, closefd=False))  # noqa: SIM115 (a descriptor, until we end)
