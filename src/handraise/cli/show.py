"""`handraise show`: everything about one session or one request."""

import json
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from handraise.cli import completion
from handraise.cli.client import HubClient, HubError
from handraise.cli.finding import ask_named, session_named
from handraise.cli.places import json_option, on_hub
from handraise.cli.table import harmless

if TYPE_CHECKING:
    from handraise.model.asks import Prompt

_ITEMS = 200
_LINES = 12


@click.command()
@click.argument("name", metavar="SESSION|REQUEST", shell_complete=completion.anything)
@on_hub
@json_option
def show(name: str, client: HubClient, as_json: bool) -> None:
    """Show a session or a request.

    Of a request: all that is asked, and how to answer it, or how it was answered.

    \b
    handraise show s_…
    handraise show "Fix the tests"
    handraise show a_…
    """
    if name.startswith("a_"):
        found = ask_named(client, name)
        rows = [] if as_json else _ask(found, client.options)
    else:
        found = _session_or_ask(client, name)
        is_ask = str(found["id"]).startswith("a_")
        rows = [] if as_json else _ask(found, client.options) if is_ask else _session(client, found)
    for row in [json.dumps(found)] if as_json else rows:
        click.echo(row)


def _session_or_ask(client: HubClient, name: str) -> dict[str, Any]:
    """A prefix without its letter may be that of a request."""
    try:
        return session_named(client, name)
    except HubError as error:
        if error.status != 404 or not name.isalnum():
            raise
        try:
            return ask_named(client, name)
        except HubError:
            raise error from None


def _session(client: HubClient, session: dict[str, Any]) -> list[str]:
    identity, options = session["id"], client.options
    facts = [
        ("Session", identity),
        ("State", session["state"]),
        ("Directory", session["directory"]),
        ("Machine", _machine(client, session)),
        ("Mode", session["mode"]),
        ("Model", session["model"] or ""),
        ("Cost", f"${session['cost_usd']:.4f}"),
        ("Started", _time(session["created_at"])),
        ("Changed", _time(session["changed_at"])),
        ("Ended", _ended(session)),
        ("Forked from", session.get("forked_from") or ""),
        ("In a terminal", session.get("terminal") or ""),
        ("Waiting there", session.get("dialog") or ""),
    ]
    rows = [harmless(session["title"]), *(f"  {name + ':':<14} {harmless(text)}" for name, text in facts if text)]
    asks = list(client.pages("/api/asks", "asks", state="open", session=identity))
    if asks:
        rows += ["", "Waiting for you:"]
        rows += [f"  {each['id']}  {harmless(each['card']['headline'])}" for each in asks]
        rows.append(f"  Answer with: handraise inbox{options}")
    last = _last_text(client, identity)
    if last:
        rows += ["", "Claude said last:", *(f"  {harmless(each)}" for each in last)]
    ended = session["phase"] == "ended"
    follow = f'handraise run --resume {identity}{options} "…"' if ended else f"handraise attach {identity}{options}"
    return [*rows, "", f"{'Resume' if ended else 'Follow'} it with: {follow}"]


def _last_text(client: HubClient, session: str) -> list[str]:
    items = client.get(f"/api/sessions/{session}/items", limit=_ITEMS)["items"]
    texts = [str(each["text"]) for each in items if each["type"] == "text" and each.get("text", "").strip()]
    lines = [each for each in texts[-1].split("\n") if each.strip()] if texts else []
    return [*lines[:_LINES], *(["…"] if len(lines) > _LINES else [])]


def _machine(client: HubClient, session: dict[str, Any]) -> str:
    found = client.get("/api/machines")["machines"]
    return next((each["name"] for each in found if len(found) > 1 and each["id"] == session.get("machine")), "")


def _ended(session: dict[str, Any]) -> str:
    ended = session.get("ended")
    if not isinstance(ended, dict):
        return ""
    return " · ".join(str(ended[key]) for key in ("how", "reason") if ended.get(key))


def _time(text: str) -> str:
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _ask(ask: dict[str, Any], options: str) -> list[str]:
    """As the plain terminal shows it, with nothing folded."""
    from handraise.model.actors import Person
    from handraise.model.asks import Question, ask_from_json
    from handraise.present.flows import flow_of
    from handraise.surfaces.terminal import cards, dialogue
    from handraise.surfaces.terminal.answer_options import how_to_answer
    from handraise.surfaces.terminal.lines import text_of
    from handraise.surfaces.terminal.plain import lines_of_card
    from handraise.surfaces.terminal.timeline import settled_line

    read = ask_from_json(ask)
    width = os.get_terminal_size().columns if sys.stdout.isatty() else 100
    card = lines_of_card(dialogue.begin(read, flow_of(read, None)), max(40, width), datetime.now(UTC), "")
    if isinstance(read.body, Question) and len(read.body.questions) > 1:
        # A card shows one question at a time.
        card = [card[0], *(row for number, each in enumerate(read.body.questions, 1) for row in _prompt(number, each))]
    if ask["state"] == "open":
        return [*card, "", "Answer with:", *(f"  {each}{options}" for each in how_to_answer(read))]
    rows = cards.story(dialogue.begin(read, flow_of(read, None)), max(40, width))
    outcome = settled_line(read, read.settlement, Person("")) if read.settlement is not None else ask["state"]
    return [*(text_of(row) for row in rows), "", outcome]


def _prompt(number: int, prompt: "Prompt") -> list[str]:
    several = " (choose any number)" if prompt.multi_select else ""
    rows = ["", harmless(f"{number}. {prompt.question}{several}")]
    for at, option in enumerate(prompt.options, 1):
        rows.append(harmless(f"   {at} {option.label}{f' – {option.description}' if option.description else ''}"))
    return rows
