"""The list of commands. Each command's module is imported when it is called."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from handraise import __version__
from handraise.cli.commands import COMMANDS, EXAMPLES, EXIT_CODES, GROUPS, SENTENCES, SUMMARY

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class HelpfulGroup(click.Group):
    """Lists commands by purpose, and turns every error in a command into a sentence and an exit code."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found: click.Command = getattr(importlib.import_module(f"handraise.cli.{COMMANDS[name]}"), name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            ctx.fail(f"No such command {args[0]!r}.{f' Did you mean {near[0]!r}?' if near else ''}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(len(name) for name in COMMANDS)
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), sentence) for name, (_, sentence) in group.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[Any]]":
        """Like click's own, which would import every matching command for its help."""
        from click.shell_completion import CompletionItem

        begun = [name for name in COMMANDS if name.startswith(incomplete)]
        found = [
            CompletionItem(name, help=click.Command(name, help=SENTENCES[name]).get_short_help_str()) for name in begun
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 (click's own)
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # click prints these, with its own exit codes
        except (Exception, KeyboardInterrupt) as error:  # the outermost level: nothing ends as a traceback
            from handraise.cli.errors import leave

            sys.exit(leave(error))


@click.group(
    cls=HelpfulGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=f"{SUMMARY}\n\n\b\n{EXAMPLES}",
    epilog=EXIT_CODES,
)
@click.version_option(__version__, "-V", "--version", package_name="handraise")
def main() -> None:
    """The command itself does nothing."""
