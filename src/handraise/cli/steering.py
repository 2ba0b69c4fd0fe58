"""Commands that control sessions and answer requests, for people and scripts."""

import json
import re
from typing import Any
from urllib.parse import quote

import click

from handraise.cli import completion
from handraise.cli.client import USAGE, HubClient, HubError
from handraise.cli.finding import ask_named, exactly, session_named
from handraise.cli.places import MODES, file_content, json_option, on_hub, piped
from handraise.cli.table import harmless

_STRICT_MODES = ("default", "manual", "plan")
"""Modes in which Claude asks at least as often as in any other: a session may be named in short for these."""
_JSON = {"edited": "--input", "fill": "--fill"}
_NUMBERED_STDIN = re.compile(r"[0-9]{1,3}=-")
_GRANTS = ("allow", "approve", "fill", "done", "trust")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("text", required=False)
@on_hub
def say(session: str, text: str | None, client: HubClient) -> None:
    """Send a message to a session, during a turn too. Without TEXT, or with -, reads stdin."""
    message = piped() if text is None or text == "-" else text
    found = session_named(client, session)
    client.post(f"{_path(found)}/say", {"text": message})
    _say_if_away(client, found, "Your message is stored and will be delivered when it returns.")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("action")
@on_hub
def allow(session: str, action: str, client: HubClient) -> None:
    """Allow one retry of a call that Claude Code denied without asking.

    ACTION is the ID in `action.denied`. Only exactly this call is allowed, once. Both IDs must be complete.

    \b
    handraise attach s_… --json | jq -r 'select(.type == "action.denied" and .allowable_until).action'
    handraise allow s_… toolu_…
    """
    found = exactly(client, "/api/sessions", session, "session")
    client.post(f"{_path(found)}/denied/{quote(action, safe='')}/allow")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@on_hub
def interrupt(session: str, client: HubClient) -> None:
    """Interrupt the current turn of a session."""
    client.post(f"{_path(session_named(client, session))}/interrupt")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@on_hub
def stop(session: str, client: HubClient) -> None:
    """Stop a session; you can resume it later."""
    found = session_named(client, session)
    client.post(f"{_path(found)}/stop")
    _say_if_away(client, found, "The session stops when it returns.")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("which", metavar="[ID]", required=False)
@on_hub
@json_option
def cancel(session: str, which: str | None, client: HubClient, as_json: bool) -> None:
    """Take back what waits for a session whose machine is away.

    Without ID, lists the messages and instructions that wait.

    \b
    handraise cancel s_…
    handraise cancel s_… i_…
    """
    waiting = _waiting(client, session_named(client, session))
    if which is None:
        for each in waiting:
            click.echo(json.dumps(each) if as_json else _row(each))
        if not waiting and not as_json:
            click.echo("Nothing is waiting for this session.")
        return
    found = next((each for each in waiting if each["id"] == which), None)
    if found is None:
        raise HubError(
            404,
            "not_found",
            f"{which} isn't waiting for this session. List what is: handraise cancel {session}{client.options}",
        )
    client.delete(f"/api/{'says' if found['kind'] == 'message' else 'instructions'}/{quote(which, safe='')}")


@click.command()
@click.argument("session", shell_complete=completion.steerable)
@click.argument("mode", type=click.Choice(MODES), metavar="MODE")
@on_hub
def mode(session: str, mode: str, client: HubClient) -> None:
    """Change the permission mode of a session.

    MODE is default, manual, acceptEdits, plan, dontAsk, auto or bypassPermissions. For a mode in which Claude asks
    less, SESSION must be the whole ID.

    \b
    handraise mode s_… plan
    """
    strict = mode in _STRICT_MODES
    found = session_named(client, session) if strict else exactly(client, "/api/sessions", session, "session")
    client.post(f"{_path(found)}/mode", {"mode": mode})


@click.command()
@click.argument("ask", shell_complete=completion.asks)
@click.option(
    "-c",
    "--choose",
    multiple=True,
    metavar="[N=]LABEL",
    shell_complete=completion.labels,
    help="Choose an option by its label or number; N= is the number of the question. Repeatable.",
)
@click.option(
    "-t",
    "--text",
    multiple=True,
    metavar="[N=]TEXT",
    help="Answer in your own words; N= is the number of the question. - reads stdin.",
)
@click.option("--allow", is_flag=True, help="Allow it.")
@click.option(
    "--for",
    "scope",
    multiple=True,
    type=click.Choice(["once", "session", "always"]),
    help="With --allow: how long it applies (default: once).",
)
@click.option(
    "--input",
    "edited",
    multiple=True,
    metavar="JSON",
    help="With --allow: use this input; - reads stdin, @FILE a file.",
)
@click.option("--deny", multiple=True, metavar="MESSAGE", help="Deny it, with a reason; - reads stdin.")
@click.option("--approve", is_flag=True, help="Approve the plan.")
@click.option(
    "--mode",
    "plan_mode",
    multiple=True,
    type=click.Choice(["default", "acceptEdits"]),
    help="With --approve: permission mode after approval.",
)
@click.option("--revise", multiple=True, metavar="MESSAGE", help="Send the plan back, with a reason; - reads stdin.")
@click.option("--outline", is_flag=True, help="Ask for a step-by-step outline first.")
@click.option("--fill", multiple=True, metavar="JSON", help="Fill in the form; - reads stdin, @FILE a file.")
@click.option("--done", is_flag=True, help="You finished what the link asked for.")
@click.option("--decline", is_flag=True, help="Decline the form or the link.")
@click.option("--dismiss", is_flag=True, help="Dismiss the form or the link without answering.")
@click.option("--without", is_flag=True, help="Run without the directory's own hooks, servers and permissions.")
@click.option("--trust", is_flag=True, help="Trust the directory's files exactly as they are now.")
@click.option("--never", is_flag=True, help="Never use the directory's own files, and don't ask again.")
@on_hub
@json_option
def answer(ask: str, client: HubClient, as_json: bool, **options: Any) -> None:  # noqa: ANN401 (click's own)
    """Answer one request.

    With several questions, number each answer. Contradicting options are refused, and nothing is sent. To allow,
    approve, trust or send a form, ASK must be the whole ID.

    \b
    handraise answer a_… --choose SQLite
    handraise answer a_… --choose 1=SQLite --text 2="as few as possible"
    handraise answer a_… --allow --for session
    handraise answer a_… --deny "Use the test database"
    handraise answer a_… --text - < answer.txt
    handraise answer a_… --fill @values.json
    """
    from handraise.cli.answering import Flags, NoAnswer, answer_in
    from handraise.model.answers import answer_as_json
    from handraise.model.asks import ask_from_json

    grants = any(options[name] for name in _GRANTS)
    request = exactly(client, "/api/asks", ask, "ask") if grants else ask_named(client, ask)
    try:
        body = answer_as_json(answer_in(Flags(**_read(options)), ask_from_json(request).body))
    except NoAnswer as error:
        raise HubError(422, USAGE, str(error)) from error
    settled = client.post(f"/api/asks/{quote(request['id'])}/answer", {"answer": body, "digest": request["digest"]})
    if as_json:
        click.echo(json.dumps(settled))
    elif settled.get("late"):
        click.echo("The request had expired. Your answer was sent to Claude as a follow-up.")
    else:
        click.echo("Answered.")
    if not as_json:
        _say_if_away(client, settled, "Your answer is stored and will be delivered when it returns.")


def _waiting(client: HubClient, session: dict[str, Any]) -> list[dict[str, Any]]:
    """What its machine has not done yet, and what Claude has not received, oldest first."""
    path = _path(session)
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


def _read(options: dict[str, Any]) -> dict[str, Any]:
    """The options with what stdin and files contain.

    Only JSON comes from files: it never starts with @, and a text that does isn't taken for the name of a file.
    """
    values = {name: options[name] for name in ("text", "edited", "deny", "revise", "fill")}
    if sum(_is_stdin(value, name) for name, given in values.items() for value in given) > 1:
        raise click.UsageError("Only one option can read stdin.")
    return {**options, **{name: tuple(_value(value, name) for value in given) for name, given in values.items()}}


def _value(value: str, name: str) -> str:
    if _is_stdin(value, name):
        # The last line end is the pipe's, not the person's.
        return f"{value[:-1]}{piped().removesuffix(chr(10))}"
    if name in _JSON and value.startswith("@"):
        return file_content(value[1:], _JSON[name])
    return value


def _is_stdin(value: str, name: str) -> bool:
    return value == "-" or (name == "text" and _NUMBERED_STDIN.fullmatch(value) is not None)


def _path(session: dict[str, Any]) -> str:
    return f"/api/sessions/{quote(session['id'], safe='')}"


def _say_if_away(client: HubClient, what: dict[str, Any], what_then: str) -> None:
    """Why nothing happens yet, if it is for a machine that is away."""
    machine = what.get("machine", "")
    if machine in ("", client.own_machine()):
        return
    for each in client.get("/api/machines")["machines"]:
        if each["id"] == machine and each["away_since"]:
            click.echo(f"Machine {harmless(each['name'])} is away. {what_then}", err=True)
