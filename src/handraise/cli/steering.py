"""Commands that look at sessions, steer them, and settle asks: for people and for scripts."""

import json
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import USAGE, HubClient, HubError
from handraise.cli.places import address_in, hub_option, json_option, piped, state_folder, state_option


@click.command()
@click.argument("session", shell_complete=completion.sessions)
@click.argument("text", required=False)
@state_option
def say(session: str, text: str | None, state: str | None) -> None:
    """Say something to a session; during a turn it steers. Without TEXT it is read from stdin."""
    words = text if text is not None else piped()
    HubClient(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/say", {"text": words})


@click.command()
@click.argument("session", shell_complete=completion.sessions)
@state_option
def interrupt(session: str, state: str | None) -> None:
    """End the turn of a session."""
    HubClient(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/interrupt")


@click.command()
@click.argument("session", shell_complete=completion.sessions)
@state_option
def stop(session: str, state: str | None) -> None:
    """End a session's Claude; it can be resumed."""
    HubClient(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/stop")


@click.command()
@click.argument("session", shell_complete=completion.sessions)
@click.argument("mode")
@state_option
def mode(session: str, mode: str, state: str | None) -> None:
    """Change the permission mode of a session."""
    HubClient(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/mode", {"mode": mode})


@click.command()
@click.argument("ask", shell_complete=completion.asks)
@click.option("--choose", multiple=True, metavar="[N=]LABEL", help="An option; N= names the question. Repeatable.")
@click.option("--text", multiple=True, metavar="[N=]TEXT", help="Your own words; N= names the question.")
@click.option("--allow", is_flag=True, help="Allow it.")
@click.option(
    "--for",
    "scope",
    multiple=True,
    type=click.Choice(["once", "session", "always"]),
    help="With --allow: how long it applies; once unless set.",
)
@click.option("--input", "edited", multiple=True, metavar="JSON", help="With --allow: use this input instead.")
@click.option("--deny", multiple=True, metavar="MESSAGE", help="Deny it, and say why.")
@click.option("--approve", is_flag=True, help="Approve the plan.")
@click.option(
    "--mode",
    "plan_mode",
    multiple=True,
    type=click.Choice(["default", "acceptEdits"]),
    help="With --approve: the permission mode afterwards.",
)
@click.option("--revise", multiple=True, metavar="MESSAGE", help="Send the plan back, and say why.")
@click.option("--outline", is_flag=True, help="Have the steps written down first.")
@click.option("--fill", multiple=True, metavar="JSON", help="Fill the form.")
@click.option("--decline", is_flag=True, help="Decline the form.")
@click.option("--without", is_flag=True, help="Run without what the directory brings.")
@click.option("--trust", is_flag=True, help="Trust what the directory brings, exactly as it is.")
@click.option("--never", is_flag=True, help="Never use what the directory brings, and do not ask again.")
@hub_option
@state_option
@json_option
def answer(ask: str, state: str | None, hub: str | None, as_json: bool, **given: Any) -> None:  # noqa: ANN401 (click's own)
    """Settle one ask.

    With several questions, number each answer. Options that contradict each other are refused, and nothing is sent.

    \b
    handraise answer a_… --choose SQLite
    handraise answer a_… --choose 1=SQLite --text 2="as few as possible"
    handraise answer a_… --allow --for session
    handraise answer a_… --deny "Use the test database"
    """
    from handraise.cli.answering import Flags, NoAnswer, answer_in
    from handraise.model.answers import answer_as_json
    from handraise.model.asks import ask_from_json

    client = HubClient(state_folder(state), address_in(hub))
    found = client.get(f"/api/asks/{quote(ask, safe='')}")
    try:
        said = answer_as_json(answer_in(Flags(**given), ask_from_json(found).body))
    except NoAnswer as error:
        raise HubError(422, USAGE, str(error)) from error
    settled = client.post(f"/api/asks/{quote(ask, safe='')}/answer", {"answer": said, "digest": found["digest"]})
    if as_json:
        click.echo(json.dumps(settled))
    elif settled.get("late"):
        click.echo("The request had expired. Your answer was sent to Claude as a follow-up.")
    else:
        click.echo("Answered.")
