"""The commands, put together; and how a mistake is told. Each command's module is imported when it is called."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# As they are listed: the commands by what they are for, each with the module of handraise.cli that it is in and the
# first sentence of its own help, which stands here too: to list them all is no reason to import them all.
GROUPS = {
    "Stay with Claude": {
        "run": ("interactive", "Start a session in this directory and stay with it."),
        "attach": ("interactive", "Join a session: what it did last, and what comes."),
        "inbox": ("interactive", "Answer whatever is open, from all sessions."),
        "ps": ("ps", "List the sessions: what needs you first."),
    },
    "From a script": {
        "say": ("steering", "Say something to a session; during a turn it steers."),
        "answer": ("steering", "Settle one ask."),
        "interrupt": ("steering", "End the turn of a session."),
        "stop": ("steering", "End a session's Claude; it can be resumed."),
        "mode": ("steering", "Change the permission mode of a session."),
    },
    "The hub": {
        "serve": ("serve", "Run the hub: the page, the API and the sessions."),
        "demo": (
            "serve",
            "Meet every kind of ask: the real Claude Code, a scripted model, no account, no network.",
        ),
        "doctor": ("doctor", "Check the CLI, its login, ports, permissions and disk, and say what to do."),
        "audit": ("audit", "List who did what."),
        "replay": ("replay", "Rebuild a timeline from a journal: a file, a session's folder, or a session's id."),
    },
    "Who may do what": {
        "project": ("projects", "Add, list and change projects; sync their files."),
        "rules": (
            "rules",
            "List, add and revoke rules: standing answers, tried in order; the first that fits decides.",
        ),
        "trust": ("trust", "List and revoke trust in directories: whether what they bring is used."),
        "token": ("tokens", "Make, list and revoke tokens; log a browser in."),
    },
    "For other programs": {
        "mcp": ("mcp", "An MCP server on stdio with ask_user and approval_prompt, for any agent."),
        "completion": ("completion", "Print the completion for bash, zsh or fish; for $SHELL unless named."),
    },
}
COMMANDS = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}
SENTENCES = {name: sentence for group in GROUPS.values() for name, (_, sentence) in group.items()}


class HelpfulGroup(click.Group):
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
        """As click's own, which imports every command that begins so for its sentence."""
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
            raise  # told by click, with its own codes
        except (Exception, KeyboardInterrupt) as error:  # the outer door
            from handraise.cli.errors import leave

            sys.exit(leave(error))


@click.group(
    cls=HelpfulGroup,
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
