"""Where the `handraise` command begins. One relay runs for each agent, so that it must not pay for what others need."""

import sys


def main() -> None:
    """`mcp` is carried by the relay; everything else is a command."""
    if sys.argv[1:2] == ["mcp"]:
        from handraise.askers.relay import main as relay

        sys.exit(relay(sys.argv[2:]))
    from handraise.cli.main import main as command

    command()
