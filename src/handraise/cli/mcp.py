"""`handraise mcp` as a command among the others, for `--help`. The console script takes a shorter way: see `entry`."""

import sys

import click

from handraise.cli.places import state_option


@click.command()
@state_option
def mcp(state: str | None) -> None:
    """An MCP server on stdio with ask_user and approval_prompt, for any agent."""
    from handraise.agents.relay import main

    sys.exit(main(["--state", state] if state else []))
