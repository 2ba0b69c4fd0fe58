"""Parses what someone types, as the command line does, without running it."""

from collections.abc import Sequence

import click

from handraise.cli.main import main


def parsed(words: Sequence[str]) -> click.Context:
    """The context of the command that these words call; raises a UsageError, as the command would.

    Click keeps the help option of a command as its first context has it. A context without those above it would take
    `-h` from that command for the rest of the process.
    """
    context, left = root(), list(words)
    while isinstance(context.command, click.Group) and left and not left[0].startswith("-"):
        name, command, left = context.command.resolve_command(context, left)
        assert command is not None
        context = click.Context(command, context, name)
    assert context.info_name is not None
    return context.command.make_context(context.info_name, left, parent=context.parent)


def root() -> click.Context:
    """The context of `handraise` itself."""
    return click.Context(main, info_name="handraise", **main.context_settings)
