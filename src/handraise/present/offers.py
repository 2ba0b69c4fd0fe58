"""The offer in words: what could be allowed for longer than once, by our rules or as Claude suggests. Pure.

Unknown parts of a suggestion are shown verbatim.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from handraise.model.names import reveal_exactly
from handraise.model.rules import Rule
from handraise.model.tools import names_of, tool_named
from handraise.present.headlines import quoted
from handraise.texts import t

_BELOW = "/**"
_REST = " *"
_SHELL = names_of("shell")
_BEHAVIORS = ("allow", "deny", "ask")
_PLACES = ("session", "localSettings", "projectSettings", "userSettings")
_MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk")


def offer_in_words(lasting: Literal["session", "always"], rules: Sequence[Rule]) -> str:
    """Everything that these rules would allow, and for how long."""
    return t(f"card.offer.lasting.{lasting}", what=_listed([_rule(rule) for rule in rules]))


def suggestion_in_words(suggestion: Mapping[str, Any]) -> str:
    """One sentence that says everything one of Claude's suggestions would change."""
    return _suggested(suggestion) or t("card.suggestion.unknown", json=quoted(_as_json(suggestion)))


def _rule(rule: Rule) -> str:
    tool = rule.tool or ""
    if rule.command is not None:
        if rule.command.endswith(_REST):
            return t("card.offer.commands", command=quoted(rule.command.removesuffix(_REST)))
        return t("card.offer.command", command=quoted(rule.command))
    kind = tool_named(tool).kind
    if rule.path is None or kind not in ("write", "edit", "read", "find"):
        return t("card.offer.tool", tool=quoted(tool))
    if rule.path.endswith(_BELOW):
        return t(f"card.offer.files.{kind}", tool=quoted(tool), path=quoted(rule.path.removesuffix("**")))
    return t(f"card.offer.file.{kind}", tool=quoted(tool), path=quoted(rule.path))


def _suggested(suggestion: Mapping[str, Any]) -> str | None:
    where = _where(suggestion.get("destination"))
    match suggestion.get("type"):
        case "addRules" | "replaceRules" | "removeRules" as kind:
            return _suggested_rules(kind, suggestion, where)
        case "addDirectories" | "removeDirectories" as kind:
            directories = suggestion.get("directories")
            if not isinstance(directories, list) or not directories:
                return None
            key = "card.suggestion.directories" if kind == "addDirectories" else "card.suggestion.no_directories"
            return t(key, what=_listed([f"`{quoted(str(each))}`" for each in directories]), where=where)
        case "setMode":
            mode = suggestion.get("mode")
            if mode not in _MODES:
                return t("card.suggestion.mode", mode=quoted(str(mode)), where=where)
            meaning = t(f"card.suggestion.modes.{mode}")
            return t("card.suggestion.known_mode", mode=mode, meaning=meaning, where=where)
        case _:
            return None


def _suggested_rules(kind: str, suggestion: Mapping[str, Any], where: str) -> str | None:
    rules, behavior = suggestion.get("rules"), suggestion.get("behavior")
    if not isinstance(rules, list) or not rules or behavior not in _BEHAVIORS:
        return None
    named = [_suggested_rule(each) for each in rules]
    known = [each for each in named if each is not None]
    if len(known) < len(named):
        return None
    what = _listed(known)
    match kind:
        case "addRules":
            return t(f"card.suggestion.add.{behavior}", what=what, where=where)
        case "replaceRules":
            return t(f"card.suggestion.replace.{behavior}", what=what, where=where)
        case _:
            return t(f"card.suggestion.remove.{behavior}", what=what, where=where)


def _suggested_rule(rule: object) -> str | None:
    if not isinstance(rule, dict) or not isinstance(rule.get("toolName"), str):
        return None
    tool, content = rule["toolName"], rule.get("ruleContent")
    if content is None:
        return t("card.suggestion.tool", tool=quoted(tool))
    if not isinstance(content, str):
        return None
    if tool not in _SHELL:
        return t("card.suggestion.content", tool=quoted(tool), content=quoted(content))
    if content.endswith((":*", " *")):
        return t("card.suggestion.prefix", content=quoted(content[:-2]))
    if "*" in content:
        return t("card.suggestion.pattern", content=quoted(content))
    return t("card.suggestion.command", content=quoted(content))


def _where(destination: object) -> str:
    if destination in _PLACES:
        return t(f"card.suggestion.where.{destination}")
    return t("card.suggestion.elsewhere", destination=quoted(str(destination)))


def _listed(named: list[str]) -> str:
    if len(named) == 1:
        return named[0]
    before = named[0]
    for each in named[1:-1]:
        before = t("card.offer.list", before=before, next=each)
    return t("card.offer.last", before=before, last=named[-1])


def _as_json(suggestion: Mapping[str, Any]) -> str:
    return reveal_exactly(json.dumps(dict(suggestion), ensure_ascii=False, default=str, sort_keys=True))
