"""The rules that "always" or "for this session" would make of a call. Offers none if they would promise more than a
person can oversee; `present` puts them into words."""

from collections.abc import Sequence
from datetime import UTC, datetime
from posixpath import dirname, relpath
from typing import Literal

from msgspec.structs import replace

from handraise.model.rules import Rule
from handraise.model.tools import MCP
from handraise.policy.calls import FILE_TOOLS, Call
from handraise.policy.decide import decide
from handraise.policy.options import Standing
from handraise.policy.paths import Resolve, ResolvedPath, normpath
from handraise.policy.patterns import spell_pattern
from handraise.policy.programs import standing_of
from handraise.policy.shell import Opaque, SimpleCommand, parse

MAX_RULES = 6
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def suggest(
    call: Call, lasting: Literal["session", "always"], *, resolve: Resolve = normpath
) -> tuple[Rule, ...] | None:
    """The narrowest useful rules that cover this call, or None where nothing safe can be offered.

    They have no id yet: the caller that stores them sets it, and who made them.
    """
    if call.is_for_people or (call.session if lasting == "session" else call.project) is None:
        return None
    drafts = _for_tool(call, resolve)
    if drafts is None:
        return None
    if lasting == "session":
        rules = tuple(replace(each, session=call.session) for each in drafts)
    else:
        rules = tuple(replace(each, project=call.project) for each in drafts)
    return rules if decide(call, rules, _ANY_TIME, resolve=resolve).decision == "allow" else None


def _for_tool(call: Call, resolve: Resolve) -> Sequence[Rule] | None:
    if call.is_shell:
        return _for_command(call)
    if call.tool in FILE_TOOLS:
        return _for_file(call, ResolvedPath(call, resolve))
    # An unknown tool of Claude's own could do anything; a server's tool does what its name says.
    if not call.tool.startswith(MCP) or "*" in call.tool:
        return None
    return [Rule("", "allow", tool=call.tool)]


def _for_command(call: Call) -> Sequence[Rule] | None:
    read = parse(call.command) if call.command is not None else Opaque("")
    if isinstance(read, Opaque) or not read.parts:
        return None
    patterns: list[str] = []
    for part in read.parts:
        if part.words:
            pattern = _pattern(part)
            if pattern is None:
                return None
            patterns += [] if pattern in patterns else [pattern]
    if not 0 < len(patterns) <= MAX_RULES:
        return None
    return [Rule("", "allow", tool=call.tool, command=each) for each in patterns]


def _pattern(part: SimpleCommand) -> str | None:
    if part.program is None or any(each.operator.startswith("<<") for each in part.redirections):
        return None
    standing, length = standing_of(part.words)
    match standing:
        case Standing.OPEN:
            return spell_pattern([word.text for word in part.words[:length]], rest=True)
        case Standing.EXACT if all(word.literal for word in part.words):
            return spell_pattern([word.text for word in part.words], rest=False)
        case _:
            return None


def _for_file(call: Call, place: ResolvedPath) -> Sequence[Rule] | None:
    if place.path is None or place.is_sensitive or place.is_of_the_kernel or any(each in place.path for each in "*?"):
        return None
    if not place.is_inside:
        return [Rule("", "allow", tool=call.tool, path=place.path)]
    below = relpath(dirname(place.path), place.directory)
    if below == "." or place.path == place.directory:
        name = relpath(place.path, place.directory)
        return [Rule("", "allow", tool=call.tool, path=name)]
    return [Rule("", "allow", tool=call.tool, path=f"{below}/**")]
