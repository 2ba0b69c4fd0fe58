"""`handraise rules`: rules that answer permission requests without a person."""

import json
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import HubClient
from handraise.cli.finding import project_scope
from handraise.cli.places import MODES, ListGroup, json_option, on_hub
from handraise.cli.table import harmless

_WHERE = ("project", "session", "mode")


@click.group(cls=ListGroup)
def rules() -> None:
    """List, add and revoke rules: the first rule that matches decides."""


@rules.command("list")
@on_hub
@json_option
def list_all(client: HubClient, as_json: bool) -> None:
    """List rules in the order they are tried, with their source."""
    found = client.get("/api/rules")["rules"]
    for each in found:
        click.echo(json.dumps(each, ensure_ascii=False) if as_json else _line(each))
    if not found and not as_json:
        click.echo("No rules. You are asked about everything that Claude's permission mode doesn't allow.")


@rules.command()
@click.argument("decision", type=click.Choice(["allow", "deny", "ask"]))
@click.option("--tool", metavar="NAME", help="A tool name; * matches anything.")
@click.option(
    "--command", metavar="WORDS", help="A shell command, for example 'npm run *'. Each part of a command must match."
)
@click.option("--path", metavar="GLOB", help="A file glob. A relative one is inside the project.")
@click.option("--server", metavar="NAME", help="All tools of an MCP server.")
@click.option(
    "-p",
    "--project",
    metavar="P",
    shell_complete=completion.projects,
    help="Only in this project: an ID, a name or a directory.",
)
@click.option("--mode", type=click.Choice(MODES), help="Only in this permission mode.")
@click.option("-m", "--message", metavar="TEXT", default="", help="The message to Claude when the rule denies.")
@click.option("--expires", "expires_at", metavar="TIME", help="For example: 2027-01-31T12:00:00Z.")
@on_hub
@json_option
def add(client: HubClient, as_json: bool, project: str | None, **rule: str | None) -> None:
    """Add a rule. It applies to all sessions at once.

    \b
    handraise rules add allow --tool Bash --command 'npm run *' --project shop
    handraise rules add deny --path 'secrets/**' --message "Ask me for the values."
    """
    added = client.post("/api/rules", {**rule, "project": project and project_scope(client, project)})
    click.echo(json.dumps(added, ensure_ascii=False) if as_json else _line(added))


@rules.command()
@click.argument("id")
@on_hub
def revoke(id: str, client: HubClient) -> None:  # noqa: A002 (the argument's name)
    """Revoke a rule. Rules in settings files are changed there."""
    client.delete(f"/api/rules/{quote(id, safe='')}")


def _line(rule: dict[str, Any]) -> str:
    """The rule as one line: decision, subject, scope, expiry and author."""
    what = [
        rule["tool"] or ("any tool" if not rule["server"] else ""),
        f"from the server {rule['server']}" if rule["server"] else "",
        f"`{rule['command']}`" if rule["command"] else "",
        f"on {rule['path']}" if rule["path"] else "",
    ]
    where = [f"{name} {rule[name]}" for name in _WHERE if rule[name]] or ["everywhere"]
    until = [f"until {rule['expires_at'][:16]}"] if rule["expires_at"] else []
    made = f"by {rule['made_by']}" if rule["made_by"] else f"from {rule['source']}"
    message = [f'"{rule["message"]}"'] if rule["message"] else []
    summary = " · ".join([" ".join(each for each in what if each), *where, *until, made, *message])
    return harmless(f"{rule['id']}  {rule['decision']:<5}  {summary}")
