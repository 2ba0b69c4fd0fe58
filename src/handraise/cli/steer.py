"""Commands that look at sessions, steer them, and settle asks: for people and for scripts."""

import json
import sys
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completing
from handraise.cli.neighbour import Neighbour
from handraise.cli.places import json_option, state_folder, state_option


@click.command()
@click.argument("session", shell_complete=completing.sessions)
@click.argument("text", required=False)
@state_option
def say(session: str, text: str | None, state: str | None) -> None:
    """Say something to a session; during a turn it steers. Without TEXT it is read from stdin."""
    words = text if text is not None else sys.stdin.read()
    Neighbour(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/say", {"text": words})


@click.command()
@click.argument("session", shell_complete=completing.sessions)
@state_option
def interrupt(session: str, state: str | None) -> None:
    """End the turn of a session."""
    Neighbour(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/interrupt")


@click.command()
@click.argument("session", shell_complete=completing.sessions)
@state_option
def stop(session: str, state: str | None) -> None:
    """End a session's Claude; it can be resumed."""
    Neighbour(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/stop")


@click.command()
@click.argument("session", shell_complete=completing.sessions)
@click.argument("mode")
@state_option
def mode(session: str, mode: str, state: str | None) -> None:
    """Change the permission mode of a session."""
    Neighbour(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/mode", {"mode": mode})


@click.command()
@click.argument("ask", shell_complete=completing.asks)
@click.option("--choose", multiple=True, metavar="LABEL", help="An option; once for each choice.")
@click.option("--text", multiple=True, help="Free text; with several questions, one for each in order.")
@click.option("--allow", is_flag=True, help="Allow it.")
@click.option(
    "--for",
    "scope",
    type=click.Choice(["once", "session", "always"]),
    default="once",
    help="How long it holds; once unless set.",
)
@click.option("--input", "edited", metavar="JSON", help="Allow it with this input instead.")
@click.option("--deny", metavar="MESSAGE", help="Deny it, and say why.")
@click.option("--approve", is_flag=True, help="Approve the plan.")
@click.option(
    "--mode",
    "plan_mode",
    type=click.Choice(["default", "acceptEdits"]),
    default="default",
    help="What an approved plan goes on in.",
)
@click.option("--revise", metavar="MESSAGE", help="Send the plan back, and say why.")
@click.option("--outline", is_flag=True, help="Have the steps written down first.")
@click.option("--fill", metavar="JSON", help="Fill the form.")
@click.option("--decline", is_flag=True, help="Decline the form.")
@state_option
@json_option
def answer(ask: str, state: str | None, as_json: bool, **given: Any) -> None:  # noqa: ANN401 (click's own)
    """Settle one ask.

    \b
    handraise answer a_… --choose SQLite
    handraise answer a_… --allow --for session
    handraise answer a_… --deny "Use the test database"
    """
    neighbour = Neighbour(state_folder(state))
    found = neighbour.get(f"/api/asks/{quote(ask, safe='')}")
    said = _answer(found, given)
    settled = neighbour.post(f"/api/asks/{quote(ask, safe='')}/answer", {"answer": said, "digest": found["digest"]})
    if as_json:
        click.echo(json.dumps(settled))
    elif settled.get("late"):
        click.echo("Too late for the request itself; it was said to Claude as guidance.")
    else:
        click.echo("Answered.")


def _answer(ask: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    match ask["kind"]:
        case "question":
            return {"answers": _choices(ask["body"]["questions"], list(given["choose"]), list(given["text"]))}
        case "permission" if given["allow"]:
            edited = {"input": _json(given["edited"], "--input")} if given["edited"] else {}
            return {"allow": True, "for": given["scope"], **edited}
        case "permission" if given["deny"] is not None:
            return {"allow": False, "message": given["deny"]}
        case "plan" if given["approve"]:
            return {"approve": True, "mode": given["plan_mode"]}
        case "plan" if given["revise"] is not None:
            return {"approve": False, "message": given["revise"]}
        case "plan" if given["outline"]:
            return {"outline": True}
        case "form" if given["fill"]:
            return {"action": "accept", "content": _json(given["fill"], "--fill")}
        case "form" if given["decline"]:
            return {"action": "decline"}
    fitting = {
        "permission": "--allow or --deny MESSAGE",
        "plan": "--approve, --revise MESSAGE or --outline",
        "form": "--fill JSON or --decline",
    }
    raise click.UsageError(f"This is a {ask['kind']}: answer it with {fitting[ask['kind']]}.")


def _choices(prompts: list[dict[str, Any]], labels: list[str], texts: list[str]) -> list[dict[str, Any]]:
    """Each label goes to the question that offers it; what is left unanswered takes the texts in order."""
    answers: list[dict[str, Any]] = []
    for prompt in prompts:
        offered = [option["label"] for option in prompt["options"]]
        mine = [label for label in labels if label in offered]
        answers.append({"labels": mine, "text": None if mine else (texts.pop(0) if texts else None)})
    known = {option["label"] for prompt in prompts for option in prompt["options"]}
    for label in labels:
        if label not in known:
            raise click.UsageError(f"No question offers {label!r}; free text goes with --text.")
    return answers


def _json(text: str, option: str) -> Any:  # noqa: ANN401 (JSON)
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{option} is not valid JSON: {error}.") from error
