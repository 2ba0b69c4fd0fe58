"""`handraise webhooks`: which addresses get events, and what was sent to them."""

import json
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import USAGE, HubClient, HubError
from handraise.cli.finding import project_scope
from handraise.cli.places import ListGroup, confirm, json_option, on_hub, yes_option
from handraise.cli.table import cut, harmless

EVENTS = (
    "ask.opened",
    "ask.settled",
    "ask.expired",
    "ask.delivered",
    "session.started",
    "session.ended",
    "turn.ended",
    "notification.failed",
)
"""As in `handraise.model.webhooks`, which takes longer to import than this command line."""
_STATES = {"on": "on", "failing": "failing", "off": "off", "gone": "off (410)"}
_WIDEST = 60
_PROBLEM = 100

webhook_argument = click.argument("webhook", shell_complete=completion.webhooks)


@click.group(cls=ListGroup)
def webhooks() -> None:
    """List, add, test and remove webhooks, and show what was sent.

    \b
    handraise webhooks add https://example.com/hook --event ask.opened
    handraise webhooks test example.com
    handraise webhooks deliveries example.com
    """


@webhooks.command("list")
@on_hub
@json_option
def list_all(client: HubClient, as_json: bool) -> None:
    """List webhooks: state, queued events, and the last problem."""
    found = client.get("/api/webhooks")["webhooks"]
    for each in found:
        click.echo(json.dumps(each) if as_json else _line(each))
    if not found and not as_json:
        click.echo("No webhooks yet. Add one with: handraise webhooks add URL", err=True)


@webhooks.command()
@click.argument("url")
@click.option("-n", "--name", metavar="NAME", help="A name for it (default: the host).")
@click.option(
    "--event", "events", multiple=True, type=click.Choice(EVENTS), help="Only this event; repeatable (default: all)."
)
@click.option(
    "-p",
    "--project",
    "projects",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.projects,
    help="Only this project; repeatable (default: all).",
)
@click.option("--content", is_flag=True, help="Also send what Claude and people wrote.")
@on_hub
@json_option
def add(
    url: str,
    name: str | None,
    events: tuple[str, ...],
    projects: tuple[str, ...],
    content: bool,
    client: HubClient,
    as_json: bool,
) -> None:
    """Add a webhook for URL. Prints its secret, which is shown only once."""
    scopes = [project_scope(client, each) for each in projects]
    body = {"name": name or _host(url), "url": url, "events": events, "projects": scopes, "content": content}
    made = client.post("/api/webhooks", body)
    _show_secret(made, as_json=as_json)


@webhooks.command()
@webhook_argument
@on_hub
@json_option
def test(webhook: str, client: HubClient, as_json: bool) -> None:
    """Send a test event to WEBHOOK, and print the response."""
    _report(client.post(f"{_path(client, webhook)}/test"), as_json=as_json)


@webhooks.command()
@webhook_argument
@on_hub
@json_option
def rotate(webhook: str, client: HubClient, as_json: bool) -> None:
    """Give WEBHOOK a new secret. The old one also signs for another day."""
    _show_secret(client.post(f"{_path(client, webhook)}/secret"), as_json=as_json)


@webhooks.command()
@webhook_argument
@on_hub
def enable(webhook: str, client: HubClient) -> None:
    """Turn WEBHOOK on. It gets what happens from now on."""
    client.patch(_path(client, webhook), {"enabled": True})


@webhooks.command()
@webhook_argument
@on_hub
def disable(webhook: str, client: HubClient) -> None:
    """Turn WEBHOOK off. Queued events wait until it is on again."""
    client.patch(_path(client, webhook), {"enabled": False})


@webhooks.command()
@webhook_argument
@yes_option
@on_hub
def remove(webhook: str, yes: bool, client: HubClient) -> None:
    """Remove WEBHOOK and the events that are queued for it."""
    found = _named(client, webhook)
    confirm(f"Remove the webhook {harmless(found['name'])}?", yes=yes)
    client.delete(f"/api/webhooks/{quote(found['id'], safe='')}")


@webhooks.command()
@webhook_argument
@on_hub
@json_option
def deliveries(webhook: str, client: HubClient, as_json: bool) -> None:
    """List what was sent to WEBHOOK and what is queued, newest first."""
    found = client.get(f"{_path(client, webhook)}/deliveries")["deliveries"]
    for each in found:
        click.echo(json.dumps(each) if as_json else _delivery(each))
    if not found and not as_json:
        click.echo("Nothing was sent yet.", err=True)


@webhooks.command()
@webhook_argument
@click.argument("delivery")
@on_hub
@json_option
def resend(webhook: str, delivery: str, client: HubClient, as_json: bool) -> None:
    """Send DELIVERY to WEBHOOK again, with the same ID."""
    path = f"{_path(client, webhook)}/deliveries/{quote(delivery, safe='')}/resend"
    _report(client.post(path), as_json=as_json)


def _named(client: HubClient, named: str) -> dict[str, Any]:
    """The webhook with this ID or name; raises HubError."""
    found: list[dict[str, Any]] = client.get("/api/webhooks")["webhooks"]
    matches = [each for each in found if each["id"] == named] or [each for each in found if each["name"] == named]
    if not matches:
        raise HubError(
            404, "not_found", f"There is no webhook {named!r}. List them with: handraise webhooks{client.options}"
        )
    if len(matches) > 1:
        ids = ", ".join(each["id"] for each in matches)
        raise HubError(409, USAGE, f"{named!r} matches {len(matches)} webhooks. Use the ID: {ids}")
    return matches[0]


def _path(client: HubClient, named: str) -> str:
    return f"/api/webhooks/{quote(_named(client, named)['id'], safe='')}"


def _host(url: str) -> str:
    """A name for an address that may be anything: the hub checks it."""
    host = url.partition("://")[2].partition("/")[0]
    return (host or url)[:_WIDEST]


def _show_secret(made: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(made))
        return
    click.echo(f"{made['webhook']['id']}  {harmless(made['webhook']['name'])}", err=True)
    click.echo(made["secret"])


def _report(delivery: dict[str, Any], *, as_json: bool) -> None:
    last = delivery["attempts"][-1]
    if as_json:
        click.echo(json.dumps(delivery))
    elif not last["problem"]:
        click.echo(f"Accepted ({last['status']}) after {last['ms']} ms. ID: {delivery['id']}")
    if last["problem"]:
        answer = f"\n{cut(harmless(last['answer']), _PROBLEM)}" if last["answer"] else ""
        raise click.ClickException(f"{last['problem']}{answer}")


def _line(webhook: dict[str, Any]) -> str:
    queued = f"{webhook['queued']} queued" if webhook["queued"] else ""
    parts = [
        webhook["id"],
        f"{_STATES.get(webhook['state'], webhook['state']):<9}",
        harmless(webhook["name"]),
        cut(harmless(webhook["url"]), _WIDEST),
        ", ".join(webhook["events"]) or "all events",
        *(["with content"] if webhook["content"] else []),
        *([queued] if queued else []),
        *([harmless(webhook["trouble"])] if webhook["trouble"] else []),
    ]
    return "  ".join(parts)


def _delivery(delivery: dict[str, Any]) -> str:
    last = delivery["attempts"][-1] if delivery["attempts"] else None
    outcome = "" if last is None else last["problem"] or f"{last['status']} after {last['ms']} ms"
    again = f"next try {_minute(delivery['next_at'])}" if delivery["next_at"] and delivery["tries"] else ""
    parts = [delivery["id"], f"{delivery['state']:<6}", _minute(delivery["at"]), delivery["event"], delivery["about"]]
    return "  ".join(harmless(each) for each in (*parts, outcome, again) if each)


def _minute(at: str) -> str:
    return f"{at[:16].replace('T', ' ')} UTC"
