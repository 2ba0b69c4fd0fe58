"""File tools on what isn't a file: a Claude that writes to its own stdin would answer for a person."""

import pytest

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import decide
from handraise.policy.suggest import suggest
from session.claude_says import NOON

OPEN_FILES = [
    "/proc/self/fd/0",
    "/proc/self/fd",
    "/proc/2/fd/1",
    "/proc/thread-self/fd/0",
    "/proc/self/task/2/fd/0",
    "/proc/self/root/proc/2/fd/0",
    "/proc/../proc/self/./fd//0",
    "/proc/2/mem",
    "/dev/fd/0",
    "/DEV/fd/0",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
]
SYSTEM = ["/proc/cpuinfo", "/proc/self/root/home/ana/x", "/proc/self/cwd/x", "/sys/power/state", "/dev/sda", "/dev"]
EVERYTHING = [
    Rule("t", "allow", tool="*"),
    Rule("w", "allow", tool="Write"),
    Rule("p", "allow", path="/**"),
    Rule("d", "allow", path="/proc/**"),
    Rule("e", "allow", path="/dev/*"),
]
TOOLS = {"Write": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path", "Read": "file_path"}


def call(tool: str, path: str) -> Call:
    return Call(tool, {TOOLS[tool]: path}, "/work/app", "p", "s")


def led_to(path: str) -> str:
    """A link in the project that leads to what a test names."""
    return path.removeprefix("/work/app/link") if path.startswith("/work/app/link/") else path


@pytest.mark.parametrize("path", OPEN_FILES)
@pytest.mark.parametrize("tool", TOOLS)
def test_open_files_of_a_process_are_refused_whatever_the_rules(tool: str, path: str) -> None:
    for rules in ([], EVERYTHING, [Rule("x", "allow", tool=tool, path=path)]):
        assert decide(call(tool, path), rules, NOON).decision == "deny"
    assert decide(call(tool, path), EVERYTHING, NOON).message
    assert suggest(call(tool, path), "always") is None


@pytest.mark.parametrize("path", OPEN_FILES)
def test_a_link_to_one_is_refused_too(path: str) -> None:
    assert decide(call("Write", f"/work/app/link{path}"), EVERYTHING, NOON, resolve=led_to).decision == "deny"


@pytest.mark.parametrize("path", SYSTEM)
@pytest.mark.parametrize("tool", TOOLS)
def test_no_pattern_covers_what_is_the_systems(tool: str, path: str) -> None:
    assert decide(call(tool, path), EVERYTHING, NOON).decision == "ask"
    assert decide(call(tool, f"/work/app/link{path}"), EVERYTHING, NOON, resolve=led_to).decision == "ask"
    assert suggest(call(tool, path), "session") is None
    assert decide(call(tool, path), [Rule("n", "deny", path="/**")], NOON).rules == ("n",)


def test_a_rule_that_names_it_allows_it() -> None:
    named = [Rule("c", "allow", tool="Read", path="/proc/cpuinfo")]
    assert decide(call("Read", "/proc/cpuinfo"), named, NOON).decision == "allow"
    assert decide(call("Read", "/work/app/link/proc/cpuinfo"), named, NOON, resolve=led_to).decision == "ask"


@pytest.mark.parametrize("path", ["/devel/x", "/process/fd/0", "/work/app/proc/self/fd/0"])
def test_others_are_files_like_any(path: str) -> None:
    assert decide(call("Write", path), EVERYTHING, NOON).decision == "allow"
