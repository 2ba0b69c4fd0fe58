"""The match of one rule and one call, or one part of its command. Allowing needs certainty; denying and asking need
only the possibility."""

from datetime import datetime
from enum import Enum

from handraise.model.rules import Rule
from handraise.policy.calls import FILE_TOOLS, Call
from handraise.policy.paths import ResolvedPath
from handraise.policy.patterns import Pattern, read_name, read_pattern
from handraise.policy.programs import basename, is_harmless_variable, is_plain, runs_its_words
from handraise.policy.shell import Redirection, SimpleCommand
from handraise.policy.shell_words import Word
from handraise.texts import t

_RUNS_SUBSCRIPTS = frozenset({"test", "[", "printf", "read", "let", "wait", "mapfile", "readarray", "unset"})
_LOOKED_BEHIND = 64
"""How many words of a program that runs other programs are searched for one; beyond them it may be anything."""


class Match(Enum):
    """MAYBE is never enough to allow or to deny, and always enough to ask."""

    NO = "no"
    MAYBE = "maybe"
    YES = "yes"


def applies(rule: Rule, call: Call, now: datetime) -> bool:
    """Whether the rule is in force and covers this tool, project, session and mode."""
    if rule.expires_at is not None and rule.expires_at <= now:
        return False
    if (rule.command is not None and not call.is_shell) or (rule.path is not None and call.tool not in FILE_TOOLS):
        return False
    if rule.decision == "allow" and call.is_shell and not call.is_known_shell and not _names_command(rule, call):
        return False
    if rule.tool is not None and not read_name(rule.tool).fits(call.tool):
        return False
    return _in_scope(rule, call) and _of_server(rule, call)


def match_place(rule: Rule, place: ResolvedPath) -> Match:
    """Whether a rule that applies matches the file of a call."""
    if rule.path is None:
        swept_up = rule.decision == "allow" and (place.is_sensitive or place.is_of_the_kernel)
        return Match.NO if swept_up else Match.YES
    if rule.decision == "allow":
        return Match.YES if place.is_covered_by(rule.path) else Match.NO
    if place.may_be_hit_by(rule.path):
        return Match.MAYBE if place.path is None else Match.YES
    return Match.MAYBE if place.may_contain(rule.path) else Match.NO


def match_part(rule: Rule, part: SimpleCommand) -> Match:
    """Whether a rule that applies matches this part of a command."""
    if rule.command is None:
        return Match.YES
    pattern = read_pattern(rule.command)
    if rule.decision == "allow":
        return Match.YES if pattern is not None and _covers(pattern, part) else Match.NO
    # A rule that can't be parsed was still meant to hold something back.
    return Match.MAYBE if pattern is None else _hits(pattern, part)


def reaches_beyond(part: SimpleCommand) -> str | None:
    """What a part does besides running its words, for a sentence; no command pattern covers it. None if nothing."""
    for each in part.redirections:
        if not _is_harmless(each):
            file = each.target.text if each.target else each.operator
            return t("why.doing.write", file=file) if each.writes else t("why.doing.read", file=file)
    for assignment in part.assignments:
        if not is_harmless_variable(assignment.name):
            return t("why.doing.set", name=assignment.name)
    return None


def _names_command(rule: Rule, call: Call) -> bool:
    """Allowing a server's tool with any input doesn't allow every command."""
    return rule.command is not None and rule.tool == call.tool


def _in_scope(rule: Rule, call: Call) -> bool:
    return (
        (rule.project is None or rule.project == call.project)
        and (rule.session is None or rule.session == call.session)
        and (rule.mode is None or rule.mode == call.mode)
    )


def _of_server(rule: Rule, call: Call) -> bool:
    if rule.server is None:
        return True
    fits = [read_name(rule.server).fits(each) for each in call.servers]
    return bool(fits) and (all(fits) if rule.decision == "allow" else any(fits))


def _covers(pattern: Pattern, part: SimpleCommand) -> bool:
    if pattern.is_everything:
        return True
    if reaches_beyond(part) is not None or _runs_a_subscript(part):
        return False
    if not part.words:
        # Harmless assignments, a loop's variable, a file that is only read.
        return True
    if not pattern.fits(part.words):
        return False
    return pattern.is_exact or is_plain(part.words, pattern.exact_words)


def _hits(pattern: Pattern, part: SimpleCommand) -> Match:
    """By the program's name in any directory, and after programs that run their own words."""
    if pattern.is_everything:
        return Match.YES
    words = part.words
    if not words:
        return Match.YES if pattern.fits(words) else Match.NO
    spellings = [words]
    if words[0].literal:
        name = basename(words[0].text)
        # Upper and lower case are the same to some file systems.
        spellings += [(Word(each), *words[1:]) for each in {name, name.lower()}]
    if any(pattern.fits(each) for each in spellings):
        return Match.YES
    if runs_its_words(words):
        behind = (words[start:] for start in range(1, min(len(words), _LOOKED_BEHIND)))
        return Match.YES if any(pattern.fits(each) for each in behind) else Match.MAYBE
    return Match.MAYBE if any(map(pattern.may_fit, spellings)) or _runs_a_subscript(part) else Match.NO


def _is_harmless(redirection: Redirection) -> bool:
    target = redirection.target
    if redirection.writes:
        return False
    # `/dev/tcp/host/port` is a connection.
    return target is None or (target.literal and not target.text.startswith(("/dev/tcp", "/dev/udp")))


def _runs_a_subscript(part: SimpleCommand) -> bool:
    """Some builtins evaluate `a[$(rm x)]` even when it was quoted."""
    if part.program not in _RUNS_SUBSCRIPTS:
        return False
    return any("$(" in word.text or "`" in word.text for word in part.words if word.literal)
