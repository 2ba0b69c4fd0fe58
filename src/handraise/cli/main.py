"""The list of commands. Each command's module is imported when it is called."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# In the order of `--help`, by purpose: each command with its module in handraise.cli and the first sentence of its own
# help. The sentence is repeated here so that listing the commands doesn't import them all.
GROUPS = {
    "Work with Claude": {
        "run": ("interactive", "Start a session in this directory and follow it."),
        "attach": ("interactive", "Follow a session from its latest output."),
        "inbox": ("interactive", "Answer open requests from all sessions."),
        "ps": ("ps", "List sessions, those that need you first."),
        "show": ("show", "Show a session or a request."),
        "diff": ("diff", "Show what a session changed in its working tree since it started."),
    },
    "Control sessions": {
        "say": ("steering", "Send a message to a session, during a turn too."),
        "answer": ("steering", "Answer one request."),
        "allow": ("steering", "Allow one retry of a call that Claude Code denied without asking."),
        "interrupt": ("steering", "Interrupt the current turn of a session."),
        "stop": ("steering", "Stop a session; you can resume it later."),
        "cancel": ("steering", "Take back what waits for a session whose machine is away."),
        "mode": ("steering", "Change the permission mode of a session."),
        "rm": ("removing", "Remove sessions that have ended."),
        "prune": ("removing", "Remove all sessions that ended a while ago."),
    },
    "Hub": {
        "serve": ("serve", "Run the hub: web page, API and sessions."),
        "demo": (
            "serve",
            "Try every kind of request: real Claude Code, scripted model, no account, no network.",
        ),
        "hub": ("hub", "Show, stop and restart this machine's hub, and read its log."),
        "service": ("service", "Run the hub as a service that starts by itself: systemd or launchd."),
        "doctor": ("doctor", "Check the setup: Claude Code, sign-in, port, permissions, disk and more."),
        "machines": ("machines", "List, rename and forget the machines that share this inbox."),
        "backup": ("backup", "Save everything the hub keeps in one file, while it runs."),
        "restore": ("backup", "Restore a backup while the hub is stopped; sessions keep running."),
        "store": ("store", "Copy the database, for example from SQLite to PostgreSQL."),
        "audit": ("audit", "Show the audit log: who did what, and when."),
        "replay": ("replay", "Rebuild a timeline from a journal: a file, a session's folder or a session ID."),
    },
    "Projects and access": {
        "project": ("projects", "Add, list, change, remove and sync projects."),
        "rules": (
            "rules",
            "List, add and revoke rules: the first rule that matches decides.",
        ),
        "trust": ("trust", "List and revoke which directories may use their own hooks, servers and permissions."),
        "token": ("tokens", "Create, list and revoke tokens, and sign in a browser."),
        "login": ("login", "Sign in to a hub on another machine."),
        "logout": ("login", "Sign out: forget the saved token."),
    },
    "Integrations": {
        "telegram": ("telegram", "Connect a Telegram bot, send a test message, and show its status."),
        "mcp": ("mcp", "Run an MCP server on stdio with ask_user and approval_prompt, for any agent."),
        "completion": ("completion", "Print the completion script for bash, zsh or fish (default: $SHELL)."),
    },
}
COMMANDS = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}
SENTENCES = {name: sentence for group in GROUPS.values() for name, (_, sentence) in group.items()}


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
    epilog="Exit codes: 0 done, 1 failed or left unfinished, 2 wrong usage, 3 no hub, 4 refused, 5 port in use, "
    "130 interrupted, 143 terminated.",
)
@click.version_option(package_name="handraise")
def main() -> None:
    """Claude Code raises its hand; you answer from anywhere.

    \b
    handraise demo                        try it without an account
    handraise run "Fix the failing test"  start Claude in this directory
    handraise inbox                       answer open requests from all sessions
    """
