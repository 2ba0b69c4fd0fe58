"""What a project's own file must not say: Claude can edit it, so it may only narrow what the person lets Claude do."""

from collections.abc import Iterator

from handraise.config.settings import ProjectSettings, Settings
from handraise.model.projects import SANDBOXES

_UNASKED = ("acceptEdits", "auto", "bypassPermissions")
"""The modes in which Claude does things unasked, each more than the one before it; in every other it does none."""
MAX_RULES = 100
MAX_CONDITION = 200
"""Characters in a rule's tool, command, path or server. They are compared with every call."""
MAX_MESSAGE = 2_000
_IN_REACH = "Claude can edit this file, and could"


def complaints(project: ProjectSettings, own: Settings) -> Iterator[str]:
    """A sentence for everything that goes beyond the person's own settings."""
    if _freedom(project.mode) > _freedom(own.claude.mode):
        yield (
            f"mode must not be {project.mode!r}. {_IN_REACH} so do more unasked. Set the mode in your own"
            " handraise.toml or with `handraise project set`, or choose it when you start a session."
        )
    if project.sandbox is not None and SANDBOXES.index(project.sandbox) < SANDBOXES.index(own.sandbox.preset):
        yield (
            f"sandbox must not be {project.sandbox!r}, which is wider than your own {own.sandbox.preset!r}. {_IN_REACH}"
            " so reach more. Set it in your own handraise.toml or with `handraise project set`."
        )
    for tool in project.allowed_tools or ():
        if tool not in own.claude.allowed_tools:
            yield (
                f"allowed_tools must not name {tool!r}, which your own settings do not allow. {_IN_REACH} so allow"
                " itself everything. Add it to [claude] allowed_tools in your own handraise.toml."
            )
    if len(project.written_rules) > MAX_RULES:
        count = f"{len(project.written_rules):,}"
        yield f"it has {count} rules. Keep {MAX_RULES} at most, or move some to your own settings."
    for number, rule in enumerate(project.written_rules, 1):
        for name in ("tool", "command", "path", "server"):
            if len(getattr(rule, name) or "") > MAX_CONDITION:
                yield f"[[rule]] {number}: {name} is longer than {MAX_CONDITION} characters. Shorten it."
        if len(rule.message) > MAX_MESSAGE:
            yield f"[[rule]] {number}: message is longer than {MAX_MESSAGE:,} characters. Shorten it."
        if rule.decision == "allow":
            yield (
                f"[[rule]] {number} must not allow anything, only deny or ask. {_IN_REACH} so allow itself"
                " everything. Put the rule into your own handraise.toml."
            )
        if rule.project is not None:
            yield f"[[rule]] {number} must not name a project: it holds in this directory, and nowhere else."


def _freedom(mode: str | None) -> int:
    return _UNASKED.index(mode) + 1 if mode in _UNASKED else 0
