"""What could be allowed for longer than once: our own offers with their rules, and Claude's suggestions in words."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from posixpath import dirname, relpath
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from handraise.model.hidden import reveal
from handraise.model.rules import Rule
from handraise.policy.calls import FILE_TOOLS, READING_TOOLS, Call
from handraise.policy.decide import decide
from handraise.policy.options import Standing
from handraise.policy.paths import Resolve, ResolvedPath, normpath
from handraise.policy.patterns import spell_pattern
from handraise.policy.programs import standing_of
from handraise.policy.shell import Opaque, SimpleCommand, parse

_WHERE = {
    "session": "until Claude's process ends",
    "localSettings": "in this directory from now on (kept in `.claude/settings.local.json`)",
    "projectSettings": "in this directory from now on, for everybody (kept in `.claude/settings.json`)",
    "userSettings": "everywhere from now on (kept in your own Claude settings)",
}
_MODES = {
    "default": "ask before each change",
    "acceptEdits": "change files without asking",
    "plan": "plan only",
    "bypassPermissions": "do everything without asking",
    "dontAsk": "deny whatever is not allowed yet, without asking",
}
_VERBS = {"allow": "Allow", "deny": "Deny", "ask": "Always ask about"}

MAX_RULES = 6
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def in_words(suggestion: Mapping[str, Any]) -> str:
    """One sentence that says everything the suggestion would change."""
    told = _told(suggestion)
    return reveal(told if told is not None else f"Something that is not known here: `{_as_json(suggestion)}`.")


def _told(suggestion: Mapping[str, Any]) -> str | None:
    where = _where(suggestion.get("destination"))
    match suggestion.get("type"):
        case "addRules" | "replaceRules" | "removeRules" as kind:
            return _told_rules(kind, suggestion, where)
        case "addDirectories" | "removeDirectories" as kind:
            directories = suggestion.get("directories")
            if not isinstance(directories, list) or not directories:
                return None
            verb = "Allow work in" if kind == "addDirectories" else "No longer allow work in"
            return f"{verb} {_listed([f'`{each}`' for each in directories])}, {where}."
        case "setMode":
            mode = suggestion.get("mode")
            meaning = f" ({_MODES[mode]})" if isinstance(mode, str) and mode in _MODES else ""
            return f"Switch to the mode `{mode}`{meaning}, {where}."
        case _:
            return None


def _told_rules(kind: str, suggestion: Mapping[str, Any], where: str) -> str | None:
    rules, behavior = suggestion.get("rules"), suggestion.get("behavior")
    if not isinstance(rules, list) or not rules or not isinstance(behavior, str) or behavior not in _VERBS:
        return None
    named = [_rule(each) for each in rules]
    if any(each is None for each in named):
        return None
    listed = _listed([each for each in named if each is not None])
    match kind:
        case "addRules":
            return f"{_VERBS[behavior]} {listed}, {where}."
        case "replaceRules":
            return f"{_VERBS[behavior]} {listed} instead of what stood there, {where}."
        case _:
            return f"Take back the rules that {behavior} {listed}, {where}."


def _rule(rule: object) -> str | None:
    if not isinstance(rule, dict) or not isinstance(rule.get("toolName"), str):
        return None
    tool, content = rule["toolName"], rule.get("ruleContent")
    if content is None:
        return f"the tool `{tool}`, whatever its input"
    if not isinstance(content, str):
        return None
    if tool != "Bash":
        return f"the tool `{tool}` for `{content}`"
    if content.endswith((":*", " *")):
        return f"every command that begins with `{content[:-2]}`"
    if "*" in content:
        return f"every command like `{content}`"
    return f"the command `{content}`"


def _where(destination: object) -> str:
    known = _WHERE.get(destination) if isinstance(destination, str) else None
    return known if known is not None else f"kept in `{destination}`"


def _as_json(suggestion: Mapping[str, Any]) -> str:
    return json.dumps(dict(suggestion), ensure_ascii=False, default=str, sort_keys=True)


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
