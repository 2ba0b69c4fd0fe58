"""`handraise rules`: the standing answers, which decide without a person."""

import json
from typing import Any
from urllib.parse import quote

import click

from handraise.cli.client import HubClient
from handraise.cli.places import json_option, state_folder, state_option
from handraise.cli.plain import plain

_WHERE = ("project", "session", "mode")


@click.group(invoke_without_command=True)
@click.pass_context
def rules(ctx: click.Context) -> None:
    """List, add and revoke rules: standing answers, tried in order; the first that fits decides."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_all, state=None, as_json=False)


@rules.command("list")
@state_option
@json_option
def list_all(state: str | None, as_json: bool) -> None:
    """List the rules in the order in which they are tried, and where each comes from."""
    found = HubClient(state_folder(state)).get("/api/rules")["rules"]
    for each in found:
        click.echo(json.dumps(each, ensure_ascii=False) if as_json else _line(each))
    if not found and not as_json:
        click.echo("No rules. Whatever Claude's own mode does not allow is asked.")


@rules.command()
@click.argument("decision", type=click.Choice(["allow", "deny", "ask"]))
@click.option("--tool", metavar="NAME", help="A tool, or a pattern with *.")
@click.option("--command", metavar="WORDS", help="For a shell: 'npm run *'. Each part of a command must fit.")
@click.option("--path", metavar="GLOB", help="For files: a glob; a relative one is inside the project.")
@click.option("--server", metavar="NAME", help="The tools of an MCP server.")
@click.option("--project", metavar="P", help="Only there: an id, a name or a directory.")
@click.option("--mode", metavar="M", help="Only in this permission mode.")
@click.option("--message", metavar="TEXT", default="", help="What Claude reads when it is denied.")
@click.option("--expires", "expires_at", metavar="TIME", help="Such as 2027-01-31T12:00:00Z.")
@state_option
@json_option
def add(state: str | None, as_json: bool, **wanted: str | None) -> None:
    """Add a rule, for every session from now on.

    \b
    handraise rules add allow --tool Bash --command 'npm run *' --project shop
    handraise rules add deny --path 'secrets/**' --message "Ask me for the values."
    """
    made = HubClient(state_folder(state)).post("/api/rules", wanted)
    click.echo(json.dumps(made, ensure_ascii=False) if as_json else _line(made))


@rules.command()
@click.argument("id")
@state_option
def revoke(id: str, state: str | None) -> None:  # noqa: A002 (the argument's name)
    """Revoke a rule that a person made; those in settings are changed there."""
    HubClient(state_folder(state)).delete(f"/api/rules/{quote(id, safe='')}")


def _line(rule: dict[str, Any]) -> str:
    """The rule as one line: what it decides, for what, where, until when, and who made it."""
    what = [
        rule["tool"] or ("any tool" if not rule["server"] else ""),
        f"of the server {rule['server']}" if rule["server"] else "",
        f"`{rule['command']}`" if rule["command"] else "",
        f"on {rule['path']}" if rule["path"] else "",
    ]
    where = [f"{name} {rule[name]}" for name in _WHERE if rule[name]] or ["everywhere"]
    until = [f"until {rule['expires_at'][:16]}"] if rule["expires_at"] else []
    made = f"by {rule['made_by']}" if rule["made_by"] else f"from {rule['source']}"
    says = [f'"{rule["message"]}"'] if rule["message"] else []
    told = " · ".join([" ".join(each for each in what if each), *where, *until, made, *says])
    return plain(f"{rule['id']}  {rule['decision']:<5}  {told}")
