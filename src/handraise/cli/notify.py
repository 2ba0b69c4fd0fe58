"""`handraise notify`: how people hear of requests, and what was sent."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import USAGE, HubClient, HubError
from handraise.cli.finding import ask_named, project_scope, session_named
from handraise.cli.places import ListGroup, confirm, json_option, on_hub, piped, yes_option
from handraise.cli.table import harmless

_BASE = "/api/notifications"
_SPAN = re.compile(r"(\d+)\s*(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_HOURS = re.compile(r"(\d\d:\d\d)\s*-\s*(\d\d:\d\d)")
_SIMPLE = ("screens", "devices", "telegram", "channels")


def _channels(client: HubClient) -> list[tuple[str, str]]:
    return [(each["name"], each["describes"]) for each in client.get(f"{_BASE}/channels")["channels"]]


_channel_names = completion.Completes(_channels)
project_option = click.option(
    "-p", "--project", metavar="P", shell_complete=completion.projects, help="A project: an ID, a name or a directory."
)


@click.group(cls=ListGroup)
def notify() -> None:
    """Set up notifications: channels, escalation, quiet hours, mutes, and what was sent.

    \b
    handraise notify add phone ntfy topic=my-secret-topic
    handraise notify test phone
    handraise notify chain set '0: screens, devices' '2m: phone' '1h: person ben'
    handraise notify quiet 22:00-07:00 --zone Europe/Berlin
    """


@notify.command("list")
@on_hub
@json_option
def list_all(client: HubClient, as_json: bool) -> None:
    """List your channels and shared ones."""
    found = client.get(f"{_BASE}/channels")["channels"]
    for each in found:
        click.echo(json.dumps(each) if as_json else _row(each))
    if not found and not as_json:
        click.echo("No channels yet. Add one with: handraise notify add NAME ntfy topic=TOPIC", err=True)


@notify.command()
@click.argument("name")
@click.argument("kind", type=click.Choice(["ntfy", "email", "apprise"]))
@click.argument("fields", nargs=-1, metavar="FIELD=VALUE...")
@click.option("--with-content", is_flag=True, help="Send what Claude wrote, too. Default: only that something waits.")
@click.option("--shared", is_flag=True, help="For everyone, such as a group. Needs the admin role.")
@on_hub
@json_option
def add(
    name: str,
    kind: str,
    fields: tuple[str, ...],
    with_content: bool,
    shared: bool,
    client: HubClient,
    as_json: bool,
) -> None:
    """Add the channel NAME.

    Use - as the value of a secret to type it without an echo, or to read it from a pipe.

    \b
    handraise notify add phone ntfy topic=my-secret-topic
    handraise notify add phone ntfy server=https://ntfy.example.com topic=claude token=-
    handraise notify add mail email host=smtp.example.com sender=a@example.com recipients=b@example.com
    handraise notify add team apprise url=- --shared
    """
    body = {
        "name": name,
        "kind": kind,
        "fields": dict(_field(each) for each in fields),
        "with_content": with_content,
        "shared": shared,
    }
    made = client.post(f"{_BASE}/channels", body)
    click.echo(json.dumps(made) if as_json else f"Added {harmless(made['name'])}: {harmless(made['describes'])}")
    if not as_json:
        click.echo(f"Send a test with: handraise notify test{client.options} {made['id']}", err=True)


@notify.command()
@click.argument("channel", shell_complete=_channel_names)
@on_hub
def test(channel: str, client: HubClient) -> None:
    """Send a test message to CHANNEL."""
    found = _named(client, channel)
    outcome = client.post(f"{_BASE}/channels/{found['id']}/test")
    if not outcome["sent"]:
        raise HubError(409, "refused", outcome["trouble"])
    click.echo(f"Sent a test to {harmless(found['name'])}.")


@notify.command()
@click.argument("channel", shell_complete=_channel_names)
@yes_option
@on_hub
def remove(channel: str, yes: bool, client: HubClient) -> None:
    """Remove CHANNEL."""
    found = _named(client, channel)
    confirm(f"Remove {found['name']}?", yes=yes)
    client.delete(f"{_BASE}/channels/{found['id']}")


@notify.command()
@click.argument("hours", required=False, metavar="[HOURS]")
@click.option("--zone", metavar="ZONE", help="Your time zone, for example Europe/Berlin.")
@click.option("--strict", is_flag=True, help="Also hold back urgent requests.")
@on_hub
@json_option
def quiet(hours: str | None, zone: str | None, strict: bool, client: HubClient, as_json: bool) -> None:
    """Show or set your quiet hours: a range such as 22:00-07:00, or `off`."""
    if hours == "off":
        client.delete(f"{_BASE}/quiet-hours")
    elif hours is not None:
        found = _HOURS.fullmatch(hours.strip())
        if found is None:
            raise click.UsageError("Use a range of times, for example 22:00-07:00, or `off`.")
        before = client.get(_BASE)["quiet_hours"]
        wanted = zone or (before["time_zone"] if before else None)
        if wanted is None:
            raise click.UsageError("Name your time zone, for example: --zone Europe/Berlin")
        body = {"start": found[1], "end": found[2], "time_zone": wanted, "urgent_gets_through": not strict}
        client.put(f"{_BASE}/quiet-hours", body)
    shown = client.get(_BASE)["quiet_hours"]
    if as_json:
        click.echo(json.dumps(shown))
    elif shown is None:
        click.echo("No quiet hours.")
    else:
        urgent = "urgent requests get through" if shown["urgent_gets_through"] else "nothing gets through"
        click.echo(f"{shown['start']}-{shown['end']} {shown['time_zone']}; {urgent}")


@notify.command()
@click.argument("session", required=False, shell_complete=completion.sessions)
@project_option
@click.option("--for", "span", metavar="TIME", help="For example 30m, 2h or 1d (default: until you unmute it).")
@click.option("--everyone", is_flag=True, help="For everyone. Needs the admin role.")
@on_hub
def mute(session: str | None, project: str | None, span: str | None, everyone: bool, client: HubClient) -> None:
    """Mute SESSION, or a project with --project."""
    if (session is None) == (project is None):
        raise click.UsageError("Name a session, or a project with --project.")
    until = None if span is None else (datetime.now(UTC) + timedelta(seconds=_seconds(span))).isoformat()
    body = {
        "session": session_named(client, session)["id"] if session is not None else None,
        "project": _project_id(client, project) if project is not None else None,
        "until": until,
        "for_everyone": everyone,
    }
    made = client.post(f"{_BASE}/mutes", body)
    click.echo(f"Muted. Unmute with: handraise notify unmute{client.options} {made['id']}")


@notify.command()
@click.argument("mute", metavar="MUTE", required=False)
@click.option("-a", "--all", "every", is_flag=True, help="All of your mutes.")
@on_hub
def unmute(mute: str | None, every: bool, client: HubClient) -> None:
    """Remove a mute, by its ID or the ID of its session or project."""
    if (mute is None) != every:
        raise click.UsageError("Name a mute, or use --all.")
    mutes = client.get(f"{_BASE}/mutes")["mutes"]
    if every:
        found = [each for each in mutes if not each["for_everyone"]]
    else:
        found = [each for each in mutes if mute in (each["id"], each["session"], each["project"])]
    if not found and not every:
        raise HubError(404, "not_found", f"There is no mute {mute!r}. List them with: handraise notify mutes")
    for each in found:
        client.delete(f"{_BASE}/mutes/{quote(each['id'], safe='')}")


@notify.command()
@on_hub
@json_option
def mutes(client: HubClient, as_json: bool) -> None:
    """List mutes: yours, and those for everyone."""
    for each in client.get(f"{_BASE}/mutes")["mutes"]:
        what = each["session"] or each["project"]
        until = f"until {each['until']}" if each["until"] else "until you unmute it"
        whose = "everyone" if each["for_everyone"] else "you"
        click.echo(json.dumps(each) if as_json else f"{each['id']}  {what}  {until}  for {whose}")


@notify.group()
def chain() -> None:
    """Show or change the escalation chain: who is notified, and when.

    A step is a delay, a colon and targets: screens, devices, telegram, channels, the name of a channel, or `person`
    with a name.
    """


@chain.command("show")
@project_option
@on_hub
@json_option
def show_chain(project: str | None, client: HubClient, as_json: bool) -> None:
    """Show the chain, and what would happen to a request raised now."""
    query = {} if project is None else {"project": _project_id(client, project)}
    shown = client.get(f"{_BASE}/preview", **query)
    if as_json:
        click.echo(json.dumps(shown))
        return
    for step in shown["steps"]:
        click.echo(f"After {_span(step['after'])}:" if step["after"] else "At once:")
        for row in step["rows"]:
            click.echo(f"  {_effect(row)}")


@chain.command("set")
@click.argument("steps", nargs=-1, required=True, metavar="STEP...")
@project_option
@on_hub
def set_chain(steps: tuple[str, ...], project: str | None, client: HubClient) -> None:
    """Set the chain for all projects, or for one. Needs the admin role.

    \b
    handraise notify chain set '0: screens, devices' '2m: phone' '15m: telegram, mail' '1h: person ben'
    """
    channels = {each["name"]: each["id"] for each in client.get(f"{_BASE}/channels")["channels"]}
    body = {"steps": [_step(each, channels) for each in steps]}
    client.put(_chain_path(client, project), body)


@chain.command("reset")
@project_option
@on_hub
def reset_chain(project: str | None, client: HubClient) -> None:
    """Go back to the default: everything at once. Needs the admin role."""
    client.delete(_chain_path(client, project))


@notify.command()
@click.argument("request", required=False, shell_complete=completion.asks)
@click.option("-n", "--limit", type=click.IntRange(1, 500), default=20, help="How many requests (default: 20).")
@on_hub
@json_option
def log(request: str | None, limit: int, client: HubClient, as_json: bool) -> None:
    """Show what was sent and not sent, and why: about the newest requests, or about REQUEST."""
    if request is not None:
        path = f"/api/asks/{quote(ask_named(client, request)['id'], safe='')}/notifications"
        found = [client.get(path)]
    else:
        found = client.get(f"{_BASE}/log", limit=limit)["asks"]
    for each in found:
        if as_json:
            click.echo(json.dumps(each))
            continue
        click.echo(f"{each['ask']}  {each['kind']}  {each['opened_at']}")
        for entry in each["entries"]:
            click.echo(f"  {_entry(entry)}")
    if not found and not as_json:
        click.echo("Nothing was sent yet.", err=True)


@notify.command()
@click.option("--days", type=click.IntRange(1, 365), default=30, help="How many days back (default: 30).")
@on_hub
@json_option
def stats(days: int, client: HubClient, as_json: bool) -> None:
    """Show how long requests waited, and which notifications led to an answer."""
    found = client.get(f"{_BASE}/statistics", days=days)["statistics"]
    if as_json:
        click.echo(json.dumps(found))
        return
    requests = "1 request" if found["asks"] == 1 else f"{found['asks']} requests"
    click.echo(f"{requests} in {days} days: {found['answered']} answered, {found['expired']} expired")
    click.echo(f"Noticed after {_times(found['noticed'])}; answered after {_times(found['to_answer'])}")
    click.echo(f"Agents waited {found['minutes_waited']:g} min")
    click.echo(f"Notifications: {found['notifications']}, of which {found['unneeded']} not needed")
    for each in found["channels"]:
        if each["step"] is None:
            numbers = f"{each['sent']} sent, {each['failed']} failed, {each['unneeded']} not needed"
            click.echo(f"  {harmless(each['label'])}: {numbers}; answered after {_times(each['answered'])}")


def _row(channel: dict[str, Any]) -> str:
    state = channel["trouble"] or ("works" if channel["last_sent_at"] else "not used yet")
    whose = channel["owner"] or "shared"
    content = "with content" if channel["with_content"] else "no content"
    return f"{channel['id']}  {harmless(channel['name'])}  {channel['kind']}  {harmless(whose)}  {content}  {state}"


def _field(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"{text}: write a field as NAME=VALUE, for example topic=my-secret-topic.")
    if value != "-":
        return name, value
    if sys.stdin.isatty():
        return name, click.prompt(name, hide_input=True, err=True)
    return name, piped().strip()


def _named(client: HubClient, name: str) -> dict[str, Any]:
    channels: list[dict[str, Any]] = client.get(f"{_BASE}/channels")["channels"]
    found = [each for each in channels if name in (each["id"], each["name"])]
    if not found:
        listing = f"handraise notify list{client.options}"
        raise HubError(404, "not_found", f"There is no channel {name!r}. List them with: {listing}")
    if len(found) > 1:
        raise HubError(422, USAGE, f"Several channels are called {name!r}. Use the ID of one.")
    return found[0]


def _project_id(client: HubClient, named: str) -> str:
    wanted = project_scope(client, named)
    for each in client.get("/api/projects")["projects"]:
        if wanted in (each["id"], each["name"], each["path"]):
            return str(each["id"])
    raise HubError(404, "not_found", f"There is no project {named!r}. List them with: handraise project list")


def _chain_path(client: HubClient, project: str | None) -> str:
    named = "all" if project is None else quote(_project_id(client, project), safe="")
    return f"{_BASE}/chains/{named}"


def _seconds(text: str) -> int:
    if text.strip() == "0":
        return 0
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise click.UsageError(f"{text!r} isn't a time. Use for example 30s, 2m, 1h or 1d.")
    return int(found[1]) * _SECONDS[found[2]]


def _step(text: str, channels: dict[str, str]) -> dict[str, Any]:
    delay, colon, targets = text.partition(":")
    if not colon:
        raise click.UsageError(f"{text!r}: write a step as DELAY: TARGETS, for example '2m: phone'.")
    return {"after": _seconds(delay), "targets": [_target(each.strip(), channels) for each in targets.split(",")]}


def _target(name: str, channels: dict[str, str]) -> dict[str, str]:
    if name in _SIMPLE:
        return {"to": name}
    if name.startswith("person "):
        return {"to": "person", "person": name.removeprefix("person ").strip()}
    channel = channels.get(name) or (name if name in channels.values() else None)
    if channel is None:
        known = ", ".join([*_SIMPLE, "person NAME", *channels])
        raise click.UsageError(f"There is no target {name!r}. Use one of: {known}.")
    return {"to": "channel", "channel": channel}


def _span(seconds: int) -> str:
    for letter in ("d", "h", "m"):
        if seconds % _SECONDS[letter] == 0:
            return f"{seconds // _SECONDS[letter]} {'min' if letter == 'm' else letter}"
    return f"{seconds} s"


def _effect(row: dict[str, Any]) -> str:
    name = harmless(row["label"] or "no one")
    who = f" ({harmless(row['person'])})" if row["person"] else ""
    match row["effect"]:
        case "shown":
            return "shown to people who are looking"
        case "sent":
            return f"{name}{who}"
        case "later":
            return f"{name}{who}: at {row['at']}. {row['reason_text']}"
        case _:
            return f"{name}{who}: not sent. {row['reason_text']}"


def _entry(entry: dict[str, Any]) -> str:
    who = f" ({harmless(entry['person'])})" if entry["person"] else ""
    detail = entry["reason_text"] or harmless(entry["detail"])
    state = "not sent" if entry["state"] in ("held", "skipped") else entry["state"]
    return f"{entry['at']}  {harmless(entry['label'])}{who}: {state}{f'. {detail}' if detail else ''}"


def _times(spread: dict[str, Any]) -> str:
    if not spread["count"]:
        return "–"
    return f"{spread['median']:g} s (90 % within {spread['slowest']:g} s)"
