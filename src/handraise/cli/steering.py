"""Commands that control sessions and answer requests, for people and scripts."""

import json
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import USAGE, HubClient, HubError
from handraise.cli.places import address_in, hub_option, json_option, piped, state_folder, state_option
from handraise.cli.table import harmless


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("text", required=False)
@state_option
def say(session: str, text: str | None, state: str | None) -> None:
    """Send a message to a session, during a turn too. Without TEXT, reads stdin."""
    message = text if text is not None else piped()
    client = HubClient(state_folder(state))
    client.post(f"/api/sessions/{quote(session, safe='')}/say", {"text": message})
    _say_if_away(client, _machine_of(client, session), "Your message is stored and will be delivered when it returns.")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("action")
@state_option
def allow(session: str, action: str, state: str | None) -> None:
    """Allow one retry of a call that Claude Code denied without asking.

    ACTION is the ID in `action.denied`. Only exactly this call is allowed, once.

    \b
    handraise attach s_… --json | jq -r 'select(.type == "action.denied" and .allowable_until).action'
    handraise allow s_… toolu_…
    """
    path = f"/api/sessions/{quote(session, safe='')}/denied/{quote(action, safe='')}/allow"
    HubClient(state_folder(state)).post(path)


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@state_option
def interrupt(session: str, state: str | None) -> None:
    """Interrupt the current turn of a session."""
    HubClient(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/interrupt")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@state_option
def stop(session: str, state: str | None) -> None:
    """Stop a session; you can resume it later."""
    client = HubClient(state_folder(state))
    client.post(f"/api/sessions/{quote(session, safe='')}/stop")
    _say_if_away(client, _machine_of(client, session), "The session stops when it returns.")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("which", metavar="[ID]", required=False)
@state_option
@json_option
def cancel(session: str, which: str | None, state: str | None, as_json: bool) -> None:
    """Take back what waits for a session whose machine is away.

    Without ID, lists the messages and instructions that wait.

    \b
    handraise cancel s_…
    handraise cancel s_… i_…
    """
    client = HubClient(state_folder(state))
    waiting = _waiting(client, session)
    if which is None:
        for each in waiting:
            click.echo(json.dumps(each) if as_json else _row(each))
        if not waiting and not as_json:
            click.echo("Nothing is waiting for this session.")
        return
    found = next((each for each in waiting if each["id"] == which), None)
    if found is None:
        raise HubError(
            404, "not_found", f"{which} isn't waiting for this session. List what is: handraise cancel {session}"
        )
    client.delete(f"/api/{'says' if found['kind'] == 'message' else 'instructions'}/{quote(which, safe='')}")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("mode")
@state_option
def mode(session: str, mode: str, state: str | None) -> None:
    """Change the permission mode of a session."""
    HubClient(state_folder(state)).post(f"/api/sessions/{quote(session, safe='')}/mode", {"mode": mode})


@click.command()
@click.argument("ask", shell_complete=completion.asks)
@click.option(
    "--choose",
    multiple=True,
    metavar="[N=]LABEL",
    help="Choose an option; N= is the number of the question. Repeatable.",
)
@click.option(
    "--text", multiple=True, metavar="[N=]TEXT", help="Answer in your own words; N= is the number of the question."
)
@click.option("--allow", is_flag=True, help="Allow it.")
@click.option(
    "--for",
    "scope",
    multiple=True,
    type=click.Choice(["once", "session", "always"]),
    help="With --allow: how long it applies (default: once).",
)
@click.option("--input", "edited", multiple=True, metavar="JSON", help="With --allow: use this input instead.")
@click.option("--deny", multiple=True, metavar="MESSAGE", help="Deny it, with a reason.")
@click.option("--approve", is_flag=True, help="Approve the plan.")
@click.option(
    "--mode",
    "plan_mode",
    multiple=True,
    type=click.Choice(["default", "acceptEdits"]),
    help="With --approve: permission mode after approval.",
)
@click.option("--revise", multiple=True, metavar="MESSAGE", help="Send the plan back, with a reason.")
@click.option("--outline", is_flag=True, help="Ask for a step-by-step outline first.")
@click.option("--fill", multiple=True, metavar="JSON", help="Fill in the form.")
@click.option("--done", is_flag=True, help="You finished what the link asked for.")
@click.option("--decline", is_flag=True, help="Decline the form or the link.")
@click.option("--dismiss", is_flag=True, help="Dismiss the form or the link without answering.")
@click.option("--without", is_flag=True, help="Run without the directory's own hooks, servers and permissions.")
@click.option("--trust", is_flag=True, help="Trust the directory's files exactly as they are now.")
@click.option("--never", is_flag=True, help="Never use the directory's own files, and don't ask again.")
@hub_option
@state_option
@json_option
def answer(ask: str, state: str | None, hub: str | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401 (click's own)
    """Answer one request.

    With several questions, number each answer. Contradicting options are refused, and nothing is sent.

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
    request = client.get(f"/api/asks/{quote(ask, safe='')}")
    try:
        body = answer_as_json(answer_in(Flags(**options), ask_from_json(request).body))
    except NoAnswer as error:
        raise HubError(422, USAGE, str(error)) from error
    settled = client.post(f"/api/asks/{quote(ask, safe='')}/answer", {"answer": body, "digest": request["digest"]})
    if as_json:
        click.echo(json.dumps(settled))
    elif settled.get("late"):
        click.echo("The request had expired. Your answer was sent to Claude as a follow-up.")
    else:
        click.echo("Answered.")
    if not as_json:
        _say_if_away(client, settled.get("machine", ""), "Your answer is stored and will be delivered when it returns.")


def _waiting(client: HubClient, session: str) -> list[dict[str, Any]]:
    """What its machine has not done yet, and what Claude has not received, oldest first."""
    path = f"/api/sessions/{quote(session, safe='')}"
    instructions = client.get(f"{path}/instructions")["instructions"]
    messages: dict[str, dict[str, Any]] = {}
    for item in client.pages(f"{path}/items", "items"):
        if item["type"] == "said":
            found = {"id": item["say"], "kind": "message", "text": item["text"], "at": item["at"], "by": item["by"]}
            messages[item["say"]] = found
        elif item["type"] in ("said.taken", "said.withdrawn"):
            messages.pop(item["say"], None)
    return sorted([*instructions, *messages.values()], key=lambda each: str(each["at"]))


def _row(waiting: dict[str, Any]) -> str:
    text = waiting.get("text") or waiting.get("value") or ""
    return f"{waiting['id']}  {waiting['kind']}  {harmless(text)}".rstrip()


def _machine_of(client: HubClient, session: str) -> str:
    return str(client.get(f"/api/sessions/{quote(session, safe='')}").get("machine", ""))


def _say_if_away(client: HubClient, machine: str, what_then: str) -> None:
    """Why nothing happens yet, if it is for a machine that is away."""
    if machine in ("", client.own_machine()):
        return
    for each in client.get("/api/machines")["machines"]:
        if each["id"] == machine and each["away_since"]:
            click.echo(f"Machine {harmless(each['name'])} is away. {what_then}", err=True)
