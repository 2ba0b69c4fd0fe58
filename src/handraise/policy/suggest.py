"""The offer: the rules that "always" or "for this session" would make of a call, and their scope in words. Offers
nothing where the words would promise more than a person can oversee."""

from collections.abc import Sequence
from datetime import UTC, datetime
from posixpath import dirname, relpath
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from handraise.model.rules import Rule
from handraise.policy.calls import FILE_TOOLS, READING_TOOLS, Call
from handraise.policy.decide import decide
from handraise.policy.options import Standing
from handraise.policy.paths import Resolve, ResolvedPath, normpath
from handraise.policy.patterns import spell_pattern
from handraise.policy.programs import standing_of
from handraise.policy.shell import Opaque, SimpleCommand, parse

MAX_RULES = 6

_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class RuleOffer(Struct, frozen=True):
    """What would be granted. The rules have no id yet: whoever stores them gives one, and says who made them."""

    rules: tuple[Rule, ...]
    scope: str


def suggest(call: Call, lasting: Literal["session", "always"], *, resolve: Resolve = normpath) -> RuleOffer | None:
    """The narrowest useful offer that covers this call, or None where nothing safe can be offered."""
    if call.is_for_people or (call.session if lasting == "session" else call.project) is None:
        return None
    found = _for_tool(call, resolve)
    if found is None:
        return None
    drafts, granted = found
    if lasting == "session":
        rules = tuple(replace(each, session=call.session) for each in drafts)
    else:
        rules = tuple(replace(each, project=call.project) for each in drafts)
    if decide(call, rules, _ANY_TIME, resolve=resolve).decision != "allow":
        return None
    return RuleOffer(rules, f"Allow {granted} {'in this session' if lasting == 'session' else 'in this project'}.")


def _for_tool(call: Call, resolve: Resolve) -> tuple[Sequence[Rule], str] | None:
    if call.is_shell:
        return _for_command(call)
    if call.tool in FILE_TOOLS:
        return _for_file(call, ResolvedPath(call, resolve))
    # A tool of Claude's own that is not known here could do anything; one of a server does what its name says.
    if not call.tool.startswith("mcp__") or "*" in call.tool:
        return None
    return [Rule("", "allow", tool=call.tool)], f"the tool `{call.tool}`, whatever its input,"


def _for_command(call: Call) -> tuple[Sequence[Rule], str] | None:
    read = parse(call.command) if call.command is not None else Opaque("")
    if isinstance(read, Opaque) or not read.parts:
        return None
    patterns: dict[str, str] = {}
    for part in read.parts:
        if part.words:
            pattern = _pattern(part)
            if pattern is None:
                return None
            patterns[pattern] = _in_words(pattern)
    if not 0 < len(patterns) <= MAX_RULES:
        return None
    return [Rule("", "allow", tool=call.tool, command=each) for each in patterns], _listed(list(patterns.values()))


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


def _in_words(pattern: str) -> str:
    return f"every `{pattern.removesuffix(' *')} …`" if pattern.endswith(" *") else f"exactly `{pattern}`"


def _listed(granted: list[str]) -> str:
    return granted[0] if len(granted) == 1 else f"{', '.join(granted[:-1])} and {granted[-1]}"


def _for_file(call: Call, place: ResolvedPath) -> tuple[Sequence[Rule], str] | None:
    if place.path is None or place.is_sensitive or place.is_of_the_kernel or any(each in place.path for each in "*?"):
        return None
    verb = "reading" if call.tool in READING_TOOLS else "changing"
    if not place.is_inside:
        return [Rule("", "allow", tool=call.tool, path=place.path)], f"`{call.tool}` {verb} exactly `{place.path}`"
    below = relpath(dirname(place.path), place.directory)
    if below == "." or place.path == place.directory:
        name = relpath(place.path, place.directory)
        return [Rule("", "allow", tool=call.tool, path=name)], f"`{call.tool}` {verb} exactly `{name}`"
    return [Rule("", "allow", tool=call.tool, path=f"{below}/**")], f"`{call.tool}` {verb} files below `{below}/`"
