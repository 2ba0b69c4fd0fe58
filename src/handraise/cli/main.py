"""The commands, put together; and how a mistake is told. Each command's module is imported when it is called."""

import importlib
import sys
from difflib import get_close_matches
from typing import Any

import click

from handraise.cli import troubles

# As they are listed: the commands by what they are for, each with the module of handraise.cli that it is in.
GROUPS = {
    "Stay with Claude": {"run": "staying", "attach": "staying", "inbox": "staying", "ps": "ps"},
    "From a script": {"say": "steer", "answer": "steer", "interrupt": "steer", "stop": "steer", "mode": "steer"},
    "The hub": {"serve": "serve", "demo": "serve", "doctor": "doctor", "audit": "audit", "replay": "replay"},
    "Who may do what": {"project": "projects", "rules": "rules", "trust": "trust", "token": "tokens"},
    "For other programs": {"mcp": "relaying", "completion": "completion"},
}
COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}


class Told(click.Group):
    """Whatever goes wrong in a command ends as a sentence and an exit code."""

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
            near = get_close_matches(args[0], COMMANDS, 1)
            ctx.fail(f"No such command {args[0]!r}.{f' Did you mean {near[0]!r}?' if near else ''}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(len(name) for name in COMMANDS)
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), self._sentence(ctx, name)) for name in group])

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 (click's own)
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # told by click, with its own codes
        except (Exception, KeyboardInterrupt) as error:  # the outer door
            sys.exit(troubles.leave(error))

    def _sentence(self, ctx: click.Context, name: str) -> str:
        """The first sentence of a command's help, whole."""
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str(limit=1000)


@click.group(
    cls=Told,
    epilog="Exit codes: 0 done, 1 failed or left unfinished, 2 wrong usage, 3 no hub, 4 refused, 5 port in use, "
    "130 interrupted, 143 terminated.",
)
@click.version_option(package_name="handraise")
def main() -> None:
    """Claude Code raises its hand; you answer from anywhere.

    \b
    handraise demo                        see it work, without an account
    handraise run "Fix the failing test"  start Claude here, and stay with it
    handraise inbox                       answer whatever waits, from all sessions
    """
