"""Where the `handraise` command begins. A relay runs for each agent, `ps` at every turn: neither pays for others."""

import sys


def main() -> None:
    """`mcp` is carried by the relay; everything else is a command."""
    if sys.argv[1:2] == ["mcp"]:
        from handraise.askers.relay import main as relay

        sys.exit(relay(sys.argv[2:]))
    try:
        if sys.argv[1:] in (["ps"], ["ps", "--json"]) and _listed(as_json="--json" in sys.argv):
            return
        from handraise.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.exit("handraise: Interrupted.")


def _listed(*, as_json: bool) -> bool:
    """`ps` without what reads a command line; whatever goes wrong is told by the command itself."""
    from handraise.cli.folder import state_path
    from handraise.cli.neighbour import Failed, Neighbour, NoHub
    from handraise.cli.table import listing

    try:
        rows = listing(Neighbour(state_path(None)), as_json=as_json)
        sys.stdout.write("".join(f"{row}\n" for row in rows))
        sys.stdout.flush()
    except (NoHub, Failed):
        return False
    except OSError as error:
        _unread(error)
    return True


def _unread(error: OSError) -> None:
    """Whoever read has enough, as `head` does, or nothing more can be written; Python is not to try again."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not isinstance(error, BrokenPipeError):
        sys.stderr.write(f"handraise: Nothing more can be printed: {error.strerror}.\n")
    sys.exit(1)
