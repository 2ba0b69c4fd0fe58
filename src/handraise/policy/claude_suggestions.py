"""Claude's own suggestion for a standing permission, in words. What we do not know is shown as it came."""

import json
from collections.abc import Mapping
from typing import Any

from handraise.model.hidden import reveal

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


def _listed(named: list[str]) -> str:
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _as_json(suggestion: Mapping[str, Any]) -> str:
    return json.dumps(dict(suggestion), ensure_ascii=False, default=str, sort_keys=True)
