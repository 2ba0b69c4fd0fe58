"""`handraise token`: who may reach the hub from other machines."""

import json
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import HubClient
from handraise.cli.finding import project_scope
from handraise.cli.places import json_option, on_hub
from handraise.cli.table import harmless


@click.group()
def token() -> None:
    """Create, list and revoke tokens, and sign in a browser."""


@token.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["viewer", "approver", "admin", "agent"]),
    default="approver",
    help="viewer, approver (default), admin or agent.",
)
@click.option("--expires", metavar="TIME", help="For example: 2027-01-31T12:00:00Z.")
@click.option(
    "-p",
    "--project",
    metavar="NAME",
    shell_complete=completion.projects,
    help="For an agent: the project it works in, whatever the agent says.",
)
@on_hub
@json_option
def create(name: str, role: str, expires: str | None, project: str | None, client: HubClient, as_json: bool) -> None:
    """Create a token. It is shown only once."""
    body = {"name": name, "role": role, "expires_at": expires, "project": project and project_scope(client, project)}
    created = client.post("/api/tokens", body)
    click.echo(json.dumps(created) if as_json else created["secret"])


@token.command("list")
@click.option("--gone", is_flag=True, help="Revoked and expired tokens.")
@on_hub
@json_option
def list_all(gone: bool, client: HubClient, as_json: bool) -> None:
    """List tokens and signed-in browsers."""
    found = client.get("/api/tokens", state="gone" if gone else "good")["tokens"]
    for each in found:
        used = each["last_used_at"] or "never used"
        row = f"{each['id']}  {each['role']:<9} {each['kind']:<8} {used}  {harmless(each['name'])}"
        click.echo(json.dumps(each) if as_json else row)
    if not found and not as_json:
        none = (
            "No token was revoked or has expired."
            if gone
            else "No tokens yet. Create one with: handraise token create NAME"
        )
        click.echo(none, err=True)


@token.command()
@click.argument("id")
@on_hub
def revoke(id: str, client: HubClient) -> None:  # noqa: A002 (the argument's name)
    """Revoke a token. Its open connections end at once."""
    client.delete(f"/api/tokens/{quote(id, safe='')}")


@token.command()
@on_hub
def link(client: HubClient) -> None:
    """Print a link that signs in one browser, once."""
    click.echo(client.post("/api/login-link")["link"])
