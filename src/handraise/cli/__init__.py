"""The command line: what a person types."""

import click


@click.group()
def main() -> None:
    """Claude Code raises its hand; you answer from anywhere."""
