"""The ruling: what the rules decide about one call. Never allows when in doubt, and never answers for a person what
only a person can answer."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from handraise.model.names import reveal_exactly
from handraise.model.rules import Rule
from handraise.policy.calls import FILE_TOOLS, INWARD_TOOLS, READING_TOOLS, Call
from handraise.policy.matching import Match, applies, match_part, match_place, reaches_beyond
from handraise.policy.paths import Resolve, ResolvedPath, normpath
from handraise.policy.shell import Opaque, SimpleCommand, parse
from handraise.texts import t

_SHOWN = 160
OPEN_FILE = (
    "File tools cannot be used on the open files of a process (/proc/*/fd, /dev/fd, /dev/stdin and the like)."
    " Use an ordinary file."
)


class Ruling(Struct, frozen=True):
    """What happens to a call. `why` is a sentence; `message` is what Claude reads when a rule denies."""

    decision: Literal["allow", "deny", "ask"]
    why: str
    rules: tuple[str, ...] = ()
    """The ids of the rules that decided, or that made us ask; empty if a default applied."""
    message: str = ""


def decide(
    call: Call,
    rules: Sequence[Rule],
    now: datetime,
    *,
    resolve: Resolve = normpath,
    read_only_inside_project: bool = True,
) -> Ruling:
    """The first rule that matches decides; for a command, the first for each of its parts, and all must agree.

    `resolve` follows links (`os.path.realpath`); without it paths are used as spelled.
    """
    if call.is_for_people:
        return Ruling("ask", t("why.person"))
    live = [rule for rule in rules if applies(rule, call, now)]
    if call.is_shell:
        return _decide_command(call, live)
    if call.tool in FILE_TOOLS:
        return _decide_file(call, live, ResolvedPath(call, resolve), read_only_inside_project)
    for rule in live:
        return _by_rule(rule, t("why.about.tool", tool=call.tool))
    if call.tool in INWARD_TOOLS and read_only_inside_project:
        return Ruling("allow", t("why.inward", tool=call.tool))
    return Ruling("ask", t("why.tool", tool=_shown(call.tool)))


def _decide_file(call: Call, live: Iterable[Rule], place: ResolvedPath, read_only_inside_project: bool) -> Ruling:
    shown = _shown(place.spelled or t("why.unreadable_path"))
    if place.is_an_open_file:
        return Ruling("deny", t("why.open_file", path=shown), message=OPEN_FILE)
    for rule in live:
        match match_place(rule, place):
            case Match.YES:
                whole = t("why.about.tool", tool=call.tool)
                one = t("why.about.path", tool=call.tool, path=rule.path)
                return _by_rule(rule, one if rule.path else whole)
            case Match.MAYBE:
                return Ruling("ask", t("why.rule.might_match", rule=rule.id, what=shown), (rule.id,))
            case Match.NO:
                pass
    if place.is_of_the_kernel:
        return Ruling("ask", t("why.system", path=shown))
    if place.is_sensitive:
        return Ruling("ask", t("why.sensitive", path=shown))
    if read_only_inside_project and call.tool in READING_TOOLS and place.is_inside:
        return Ruling("allow", t("why.reads", tool=call.tool))
    if not place.is_inside:
        return Ruling("ask", t("why.outside", tool=call.tool, path=shown))
    return Ruling("ask", t("why.path", tool=call.tool, path=shown))


def _decide_command(call: Call, live: Sequence[Rule]) -> Ruling:
    command = call.command
    if command is None:
        return _decide_unread(live, t("why.doubt.other_input"))
    read = parse(command)
    if isinstance(read, Opaque):
        return _decide_unread(live, read.reason)
    if not read.parts:
        return _decide_unread(live, t("why.doubt.nothing"))
    rulings = [_decide_part(part, live) for part in read.parts]
    for decision in ("deny", "ask"):
        found = [ruling for ruling in rulings if ruling.decision == decision]
        if found:
            # A rule before a default: the reader should learn about the rule.
            return next((ruling for ruling in found if ruling.rules), found[0])
    return Ruling(
        "allow",
        " ".join(dict.fromkeys(ruling.why for ruling in rulings)),
        tuple(dict.fromkeys(each for ruling in rulings for each in ruling.rules)),
    )


def _decide_part(part: SimpleCommand, live: Iterable[Rule]) -> Ruling:
    spelled = _shown(part.source)
    for rule in live:
        match match_part(rule, part):
            case Match.YES:
                about = f"`{spelled}`" if rule.decision != "allow" else f"`{rule.command}`"
                return _by_rule(rule, about if rule.command else t("why.about.every_command"))
            case Match.MAYBE:
                might = t("why.rule.command_might_match", rule=rule.id, command=rule.command, what=spelled)
                return Ruling("ask", might, (rule.id,))
            case Match.NO:
                pass
    beyond = reaches_beyond(part)
    if beyond is not None:
        return Ruling("ask", t("why.beyond", what=_shown(beyond)))
    return Ruling("ask", t("why.command", command=spelled))


def _decide_unread(live: Iterable[Rule], reason: str) -> Ruling:
    """A command that can't be parsed is never allowed; it is denied only where every command is."""
    for rule in live:
        if rule.command in (None, "*") and rule.decision == "deny":
            return _by_rule(rule, t("why.about.every_command"))
        if rule.decision != "deny":
            break
    return Ruling("ask", t("why.unparsed", reason=reason))


def _by_rule(rule: Rule, about: str) -> Ruling:
    match rule.decision:
        case "allow":
            return Ruling("allow", t("why.rule.allows", rule=rule.id, about=about), (rule.id,))
        case "deny":
            return Ruling("deny", t("why.rule.denies", rule=rule.id, about=about), (rule.id,), rule.message)
        case "ask":
            return Ruling("ask", t("why.rule.asks", rule=rule.id, about=about), (rule.id,))


def _shown(text: str) -> str:
    """Short enough for a sentence; the whole input is shown next to it."""
    seen = reveal_exactly(text[: _SHOWN + 1])
    return seen if len(seen) <= _SHOWN else seen[: _SHOWN - 1] + "…"


def objection(call: Call, rules: Sequence[Rule], now: datetime, *, resolve: Resolve = normpath) -> Ruling | None:
    """A ruling that denies or asks, if a rule does or might; None where no rule concerns the call.

    What is denied without a rule is denied here as well.
    """
    if call.is_for_people or (call.tool not in FILE_TOOLS and all(rule.decision == "allow" for rule in rules)):
        return None
    ruling = decide(call, rules, now, resolve=resolve)
    if ruling.decision == "allow":
        return None
    if ruling.decision == "deny" or ruling.rules or _may_hide(call, rules, now):
        return ruling
    return None


def _may_hide(call: Call, rules: Sequence[Rule], now: datetime) -> bool:
    """Whether a command that can't be parsed may be one that a rule holds back."""
    if not call.is_shell:
        return False
    command = call.command
    if command is not None and not isinstance(parse(command), Opaque):
        return False
    return any(rule.decision != "allow" and applies(rule, call, now) for rule in rules)
