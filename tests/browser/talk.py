"""The showroom's conversation: everything that a chat can show, in the order of real work."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

from browser.wares import DATABASE, EDIT, NPM_TEST, PUSH, SHOP, WORDS, ago
from handraise.model.actors import ByRule, Person
from handraise.model.answers import Allow, Choice, Choices, Deny
from handraise.model.asks import Answered, Body, Settlement
from handraise.model.items import (
    ActionEnded,
    ActionKind,
    ActionStarted,
    Content,
    Notice,
    SessionStarted,
    Text,
    Thinking,
    TurnEnded,
)
from handraise.model.sessions import Say
from handraise.store.changes import Change, PublishItems, QueueSay, TakeSay

LONG = "s_long"
_USED = {"input_tokens": 1200, "cache_read_input_tokens": 3_400_000, "output_tokens": 41_000}
TITLE = "Make the limiter count right"
ANN, OWNER = Person("ann"), Person("owner")
CHOSEN = Choices((Choice(("PostgreSQL",)), Choice(("Orders", "Carts")), Choice((), "orders-2")))
EDITED = {
    "file_path": f"{SHOP}/src/limiter.js",
    "old_string": "const hits = new Map();\nconst most = 10;\n",
    "new_string": "const hits = new LRU({ max: 10_000 });\nconst most = 10;\n",
}
OUTPUT = "\n".join(f"ok {each} limiter counts by window" for each in range(1, 31))
RULED = ByRule("r_1", "A rule allows `npm test`.")

Settled = Callable[[Body, str, float, Settlement], Iterable[Change]]


def conversation(settled: Settled) -> Iterable[Change]:
    """`settled` creates settled asks."""
    yield PublishItems(LONG, ago(55), SessionStarted(TITLE, None, SHOP, "default", None, 1))
    yield from _said("s1", "The limiter lets too much through. Find out why, and make it right.", 54)
    yield from _told(53, [Thinking("Start with the code that counts, then the tests.", "m1"), *_reads()])
    yield from _told(52, [Text(WORDS, "m2")])
    yield from settled(DATABASE, LONG, 51, Answered(CHOSEN, OWNER, "web", ago(50)))
    yield from settled(EDIT, LONG, 49, Answered(Allow(), OWNER, "web", ago(48)))
    yield from _told(47, _action("edit", "file_change", f"{SHOP}/src/limiter.js", "Edit", EDITED))
    yield from settled(NPM_TEST, LONG, 46, Answered(Allow(), RULED, "rule", ago(46)))
    yield from _told(45, _action("test", "command", "npm test", "Bash", {"command": "npm test"}, OUTPUT, ok=False))
    yield from _told(44, _agent())
    retry = "The model is overloaded (529 overloaded_error); try 2 of 10."
    yield from _told(43, [Notice("warning", retry, "retry")])
    yield from settled(PUSH, LONG, 42, Answered(Deny("Never force. Open a pull request."), ANN, "telegram", ago(41)))
    yield from _told(40, [Text("Understood: no force. The tests pass, and a pull request is prepared.", "m4")])
    yield from _told(
        39, [TurnEnded(1, 3.11, 842_000, _USED, False, None, "", 1, context=172_000, context_limit=200_000)]
    )
    yield from _said("s2", "Good. Now the same for the admin pages, please.", 6)
    yield from _told(5, [Text("Twelve places are left. I start with the ones that people see most.", "m5")])
    yield from _told(4, _action("grep", "tool", "Search limiter in admin/", "Grep", {"pattern": "limiter"}))
    yield QueueSay(Say("s3", LONG, "Leave the health check alone.", OWNER, "web", ago(0.5)))


def _said(name: str, text: str, minutes: float) -> Sequence[Change]:
    return [QueueSay(Say(name, LONG, text, OWNER, "web", ago(minutes))), TakeSay(name, ago(minutes - 0.1))]


def _told(minutes: float, contents: Iterable[Content]) -> Iterable[Change]:
    for number, content in enumerate(contents):
        yield PublishItems(LONG, ago(minutes) + timedelta(seconds=number), content)


def _reads() -> Iterable[Content]:
    for number, path in enumerate(("src/limiter.js", "src/app.js", "test/limiter.test.js")):
        yield from _action(f"read{number}", "tool", f"Read {path}", "Read", {"file_path": path}, "import './lru.js'\n")


def _agent() -> Iterable[Content]:
    task = {"description": "Look for other limiters", "prompt": "Find whatever counts requests."}
    report = "There are two more: `api/limit.js` and `admin/limit.js`."
    started, ended = _action("agent", "tool", "Look for other limiters", "Agent", task, report)
    grep = "grep -rn limiter src"
    inside = _action("inner", "command", grep, "Bash", {"command": grep}, "src/app.js:3", parent="agent")
    return [started, *inside, Text("Two more places count for themselves.", "m3", "agent"), ended]


def _action(
    name: str,
    kind: ActionKind,
    title: str,
    tool: str,
    given: dict[str, Any],
    output: str = "Done.",
    *,
    ok: bool = True,
    parent: str | None = None,
) -> Sequence[Content]:
    started = ActionStarted(name, kind, title, tool, given, parent)
    return [started, ActionEnded(name, kind, title, ok, output, parent=parent)]
