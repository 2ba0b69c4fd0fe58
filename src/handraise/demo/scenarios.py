"""The stories that come with Handraise, each a script. They ask the way real work asks, and live with any answer."""

import re
from collections.abc import Generator, Mapping, Sequence
from typing import TypeAlias

from handraise.demo.pieces import Piece, Script, Scripted, say, think, use
from handraise.demo.release import RELEASE_SERVER, RELEASE_TOOL
from handraise.demo.request import Conversation
from handraise.demo.toy import FREE_DISK, UPTIME, health_test, service_with_health

Passage: TypeAlias = Generator[Sequence[Piece], Conversation, Conversation]

PACE = 0.03
WHERE = "Under which path should the health endpoint answer?"
WHAT = "What should it report, besides that the service is up?"


def health_endpoint(told: Conversation) -> Script:
    """Adds a health endpoint to the toy service: a question, a plan, two files and a command, each put to a person."""
    told = yield [
        say("I'll add a health endpoint to this service. First a look at what is there.", PACE),
        use("Read", file_path=f"{told.directory}/service.py"),
        use("Read", file_path=f"{told.directory}/test_service.py"),
    ]
    told = yield [
        think("One table of routes, one function each. Two things are a matter of taste, so I should ask."),
        say("A small service with one table of routes: easy. Two things are yours to decide.", PACE),
        use("AskUserQuestion", questions=[_where(), _what()]),
    ]
    path = choice(told, WHERE) or "/health"
    checks = [check for check in (UPTIME, FREE_DISK) if check in choice(told, WHAT)]

    told = yield [say(f"`{path}` it is. I'll write down a plan before I touch anything.", PACE), use("EnterPlanMode")]
    told = yield from propose(told, _plan(path, checks))
    if told.result().is_error:
        plan = f"{_plan(path, checks)}\n\nRevised, because you said:\n\n> {told.result().text}"
        told = yield from propose(told, plan)
    if told.result().is_error:
        yield from _part_with("I'll leave the service as it is, then. Nothing was changed.")
        return

    told = yield [
        say("Good. Here are the endpoint and its test.", PACE),
        use("Write", file_path=f"{told.directory}/service.py", content=service_with_health(path, checks)),
        use("Write", file_path=f"{told.directory}/test_health.py", content=health_test(path)),
    ]
    written = [result for result in told.results if not result.is_error]
    if len(written) < 2:
        yield from _part_with("You kept me from writing a file, so I stop here rather than leave half a change.")
        return

    told = yield [
        say("Now let me see whether it works.", PACE),
        use("Bash", command="python3 -m unittest -v", description="Run the tests"),
    ]
    ran = not told.result().is_error
    ending = (
        "all tests pass" if ran else "the tests were not run or did not pass, so please look at them before you merge"
    )
    yield from _part_with(f"The service answers at `{path}`, and {ending}.")


def ship(told: Conversation) -> Script:
    """Ships the toy service: a tool of an MCP server, which wants a form filled before it does anything."""
    told = yield [
        say("I'll hand this to the release desk. It will want to know a few things.", PACE),
        use(f"mcp__{RELEASE_SERVER}__{RELEASE_TOOL}"),
    ]
    result = told.result()
    yield from _part_with(f"Not shipped: {result.text}" if result.is_error else result.text)


def welcome(told: Conversation) -> Script:
    """What the demo plays to a session: one of the stories, by what was said first, or a word on what there is."""
    wanted = told.text.lower()
    if "health" in wanted:
        yield from health_endpoint(told)
    elif "ship" in wanted or "release" in wanted:
        yield from ship(told)
    else:
        yield from _part_with(
            "I am a scripted model, and know two stories. Start a session with “Add a health endpoint” or “Ship it”."
        )


def choice(told: Conversation, question: str) -> str:
    """What a person answered to one of the questions just asked; empty when nobody did."""
    found = re.search(re.escape(f'"{question}"=') + r'"(.*?)"', told.result().text, re.DOTALL)
    return found.group(1) if found else ""


def propose(told: Conversation, plan: str) -> Passage:
    """Puts a plan to a person, in plan mode; the result is an error when it was sent back.

    Claude Code 2.1.325 ignores a plan in the input of `ExitPlanMode`: what it shows is the plan file.
    """
    told = yield [use("Write", file_path=told.plan_file, content=plan)]
    told = yield [use("ExitPlanMode")]
    return told


def _part_with(ending: str) -> Script:
    told = yield [say(ending, PACE)]
    while True:
        told = yield [say(f"This demo is a script, and it ends here. You said: {told.text}", PACE)]


def _where() -> Mapping[str, object]:
    return {
        "question": WHERE,
        "header": "Path",
        "multiSelect": False,
        "options": [
            {"label": "/health", "description": "Plain, and what most people try first"},
            {"label": "/healthz", "description": "What Kubernetes made popular"},
            {"label": "/-/healthy", "description": "Out of the way of your own routes"},
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
        "# A health endpoint\n\n"
        f"1. `service.py`: a function `health` that reports {reported}, and a route `{path}` to it.\n"
        f"2. `test_health.py`: the endpoint answers 200 and says that it is well.\n"
        "3. Run all tests.\n\n"
        "No new dependency, and nothing that exists changes."
    )


SCENARIOS: Mapping[str, Scripted] = {"health_endpoint": health_endpoint, "ship": ship, "welcome": welcome}
