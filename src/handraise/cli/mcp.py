"""`handraise mcp` as a click command, for `--help`. The console script skips it: see `entry`."""

import sys

import click

from handraise.cli.places import state_option


@click.command()
@state_option
def mcp(state: str | None) -> None:
    """Run an MCP server on stdio with ask_user and approval_prompt, for any agent."""
    from handraise.agents.relay import main

    sys.exit(main(["--state", state] if state else []))
