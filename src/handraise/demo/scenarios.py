"""The demo's scripts. They ask as real work does, and handle any answer."""

import re
from collections.abc import Generator, Mapping, Sequence
from typing import TypeAlias

from handraise.demo.pieces import Piece, Script, Scripted, say, think, use
from handraise.demo.project import (
    FREE_DISK,
    RELEASE_SERVER,
    RELEASE_TOOL,
    UPTIME,
    health_test,
    service_with_health,
)
from handraise.demo.request import Conversation

Passage: TypeAlias = Generator[Sequence[Piece], Conversation, Conversation]

PACE = 0.03
WHERE = "Which path should the health endpoint use?"
WHAT = "What should it report besides the status?"


def health_endpoint(conversation: Conversation) -> Script:
    """Adds a health endpoint to the toy service: asks a question, proposes a plan, writes two files, runs a command."""
    conversation = yield [
        say("I'll add a health endpoint to this service. Let me look at the code first.", PACE),
        use("Read", file_path=f"{conversation.directory}/service.py"),
        use("Read", file_path=f"{conversation.directory}/test_service.py"),
    ]
    conversation = yield [
        think("One table of routes, one function each. Two things are a matter of taste, so I should ask."),
        say("It's a small service with one table of routes. I have two questions before I start.", PACE),
        use("AskUserQuestion", questions=[_where(), _what()]),
    ]
    path = choice(conversation, WHERE) or "/health"
    checks = [check for check in (UPTIME, FREE_DISK) if check in choice(conversation, WHAT)]

    conversation = yield [
        say(f"I'll use `{path}`. Let me write a plan before I change anything.", PACE),
        use("EnterPlanMode"),
    ]
    conversation = yield from propose(conversation, _plan(path, checks))
    if conversation.result().is_error:
        plan = f"{_plan(path, checks)}\n\nRevised after your feedback:\n\n> {conversation.result().text}"
        conversation = yield from propose(conversation, plan)
    if conversation.result().is_error:
        yield from _finish("OK, I'll leave the service as it is. Nothing was changed.")
        return

    conversation = yield [
        say("Great. Here are the endpoint and its test.", PACE),
        use("Write", file_path=f"{conversation.directory}/service.py", content=service_with_health(path, checks)),
        use("Write", file_path=f"{conversation.directory}/test_health.py", content=health_test(path)),
    ]
    written = [result for result in conversation.results if not result.is_error]
    if len(written) < 2:
        yield from _finish("You denied one of the files, so I'll stop here rather than leave half a change.")
        return

    conversation = yield [
        say("Now let me run the tests.", PACE),
        use("Bash", command="python3 -m unittest -v", description="Run the tests"),
    ]
    ran = not conversation.result().is_error
    ending = (
        "all tests pass" if ran else "the tests were not run or did not pass, so please check them before you merge"
    )
    yield from _finish(f"The service answers at `{path}`, and {ending}.")


def ship(conversation: Conversation) -> Script:
    """Ships the toy service with a tool of an MCP server, which asks for a form first."""
    conversation = yield [
        say("I'll start the release. It needs a few details from you.", PACE),
        use(f"mcp__{RELEASE_SERVER}__{RELEASE_TOOL}"),
    ]
    result = conversation.result()
    yield from _finish(f"Not shipped: {result.text}" if result.is_error else result.text)


def welcome(conversation: Conversation) -> Script:
    """The demo's entry: picks a script by the first message, or lists the scripts."""
    message = conversation.text.lower()
    if "health" in message:
        yield from health_endpoint(conversation)
    elif "ship" in message or "release" in message:
        yield from ship(conversation)
    else:
        yield from _finish(
            "I'm a scripted model with two demos. Start a session with “Add a health endpoint” or “Ship it”."
        )


def choice(conversation: Conversation, question: str) -> str:
    """The person's answer to one of the questions just asked; empty if there is none."""
    found = re.search(re.escape(f'"{question}"=') + r'"(.*?)"', conversation.result().text, re.DOTALL)
    return found.group(1) if found else ""


def propose(conversation: Conversation, plan: str) -> Passage:
    """Proposes a plan, in plan mode; the result is an error if it was sent back.

    Claude Code 2.1.325 ignores a plan in the input of `ExitPlanMode`: what it shows is the plan file.
    """
    conversation = yield [use("Write", file_path=conversation.plan_file, content=plan)]
    conversation = yield [use("ExitPlanMode")]
    return conversation


def _finish(ending: str) -> Script:
    conversation = yield [say(ending, PACE)]
    while True:
        conversation = yield [say(f"This scripted demo ends here. You said: {conversation.text}", PACE)]


def _where() -> Mapping[str, object]:
    return {
        "question": WHERE,
        "header": "Path",
        "multiSelect": False,
        "options": [
            {"label": "/health", "description": "The most common choice"},
            {"label": "/healthz", "description": "Common with Kubernetes"},
            {"label": "/-/healthy", "description": "Won't clash with your own routes"},
        ],
    }


def _what() -> Mapping[str, object]:
    return {
        "question": WHAT,
        "header": "Report",
        "multiSelect": True,
        "options": [
            {"label": UPTIME, "description": "Seconds since the service started"},
            {"label": FREE_DISK, "description": "Bytes left on the root disk"},
        ],
    }


def _plan(path: str, checks: Sequence[str]) -> str:
    reported = " and ".join(["the status", *(check.lower() for check in checks)])
    return (
        "# Health endpoint\n\n"
        f"1. `service.py`: add a function `health` that reports {reported}, and the route `{path}`.\n"
        f"2. `test_health.py`: check that the endpoint returns 200 and status ok.\n"
        "3. Run all tests.\n\n"
        "No new dependencies, and no changes to existing behavior."
    )


SCENARIOS: Mapping[str, Scripted] = {"health_endpoint": health_endpoint, "ship": ship, "welcome": welcome}
