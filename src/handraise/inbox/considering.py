"""What happens to an ask before a person sees it: a rule answers it, or it is prepared for a decision. Pure."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal

from msgspec import UNSET, Struct
from msgspec.structs import replace

from handraise.model import ids
from handraise.model.actors import ByRule, Person
from handraise.model.answers import Allow, Answer, Deny
from handraise.model.asks import Answered, Ask, Offer, Permission, terms_of
from handraise.model.dangers import Danger
from handraise.model.own_tools import ASK_USER, ASK_USER_SECONDS
from handraise.model.projects import Patience
from handraise.model.rules import Rule
from handraise.policy.calls import FILE_TOOLS, Call
from handraise.policy.dangers import dangers
from handraise.policy.decide import Ruling, decide, objection
from handraise.policy.diff import diff_of
from handraise.policy.suggest import suggest
from handraise.present.offers import offer_in_words, suggestion_in_words
from handraise.present.terms import terms_in_words
from handraise.store.surrogates import mended
from handraise.texts import t

FROM_RULE = "rule"
_DENIED = "A standing rule denies this. Continue without it, or ask the person."


class Surroundings(Struct, frozen=True):
    """Where the asker works, and how to read files there."""

    directory: str
    mode: str
    patience: Patience
    resolve: Callable[[str], str]
    """Follows links."""
    read: Callable[[str], str | None]
    """The current text of a file; None if there is none that can be shown."""
    ask_user: float = ASK_USER_SECONDS
    """How long `ask_user` waits, in seconds."""
    stricter: Sequence[Rule] = ()
    """Rules of the directory's own file. Claude could write it, so they can only make a ruling stricter."""
    root: str | None = None
    """The project's root, if it isn't the directory itself."""


class Objection(Struct, frozen=True):
    """The rules' objection to a call; `why` is a sentence.

    `message` is for Claude if the call is denied; otherwise Claude Code shows it to the person.
    """

    decision: Literal["deny", "ask"]
    why: str
    message: str


class Preparation(Struct, frozen=True):
    """What a person needs to decide about a call, except for what depends on rules, the time or a file's contents."""

    call: Call
    offers: tuple[Offer, ...]
    dangers: tuple[Danger, ...]


def consider(
    ask: Ask, around: Surroundings, rules: Sequence[Rule], now: datetime, prepared: Preparation | None = None
) -> Ask:
    """The ask as it will be stored, with everything encodable. `prepared` is used if it is about the same call."""
    return mended(_considered(ask, around, rules, now, prepared))


def prepare(ask: Ask, around: Surroundings) -> Preparation | None:
    """Prepared while nobody waits. Of calls that change no file, all of it can be used."""
    if not isinstance(ask.body, Permission):
        return None
    call = _call(ask, ask.body, around)
    return Preparation(call, _offers(call, around) if call.is_shell else (), dangers(call, around.resolve))


def objects(ask: Ask, around: Surroundings, rules: Sequence[Rule], now: datetime) -> Objection | None:
    """The rules' objection to a call that nobody was asked about; None if they don't concern it."""
    if not isinstance(ask.body, Permission):
        return None
    call = _call(ask, ask.body, around)
    sets = (rules, around.stricter) if around.stricter else (rules,)
    found = [objection(call, each, now, resolve=around.resolve) for each in sets]
    rulings = [each for each in found if each is not None]
    for ruling in rulings:
        if ruling.decision == "deny":
            return Objection("deny", ruling.why, ruling.message or _DENIED)
    return Objection("ask", rulings[0].why, rulings[0].why) if rulings else None


def standing_rules(ask: Ask, answered: Answered) -> tuple[Rule, ...]:
    """The rules that an answer grants beyond this once: exactly those offered, with who granted them."""
    if not isinstance(ask.body, Permission) or not isinstance(answered.answer, Allow):
        return ()
    scope = answered.answer.scope
    made_by = answered.by.name if isinstance(answered.by, Person) else ""
    granted = [rule for offer in ask.body.offers if offer.lasting == scope for rule in offer.rules]
    return tuple(
        replace(
            rule,
            id=_rule_id(ask, scope, number),
            made_by=made_by,
            made_at=answered.at,
            machine=ask.machine if _names_a_directory(rule) else "",
        )
        for number, rule in enumerate(granted)
    )


def _names_a_directory(rule: Rule) -> bool:
    """Whether it is about a place of one machine: the same path elsewhere may be something else."""
    return any(named is not None and named.startswith("/") for named in (rule.project, rule.path))


def _considered(
    ask: Ask, around: Surroundings, rules: Sequence[Rule], now: datetime, prepared: Preparation | None
) -> Ask:
    seconds = around.ask_user if ask.tool == ASK_USER else getattr(around.patience, ask.kind)
    patient = replace(ask, expires_at=None if seconds is None else now + timedelta(seconds=seconds))
    if not isinstance(ask.body, Permission):
        return replace(patient, why=ask.why or t("why.person"))
    call = _call(ask, ask.body, around)
    ruling = decide(call, rules, now, resolve=around.resolve)
    if around.stricter:
        ruling = _stricter(ruling, decide(call, around.stricter, now, resolve=around.resolve))
    terms = terms_of(ask.body)
    answer = _by_rule(ruling)
    if answer is None or (terms.is_strict and not isinstance(answer, Deny)):
        why = " ".join(each for each in (ruling.why, terms_in_words(terms)) if each)
        return replace(patient, why=why, body=_made_ready(ask.body, call, around, prepared))
    by = ByRule(", ".join(ruling.rules) or "default", ruling.why)
    return replace(ask, why=ruling.why, settlement=Answered(answer, by, FROM_RULE, now))


def _call(ask: Ask, body: Permission, around: Surroundings) -> Call:
    root = around.root or around.directory
    return Call(body.tool, body.input, root, ask.project, ask.session, around.mode, cwd=around.directory)


def _stricter(ruling: Ruling, own: Ruling) -> Ruling:
    """The person's ruling, unless a rule of the directory's own file is stricter."""
    if not own.rules or own.decision == "allow":
        return ruling
    return own if own.decision == "deny" or ruling.decision == "allow" else ruling


def _by_rule(ruling: Ruling) -> Answer | None:
    match ruling.decision:
        case "allow":
            return Allow()
        case "deny":
            return Deny(ruling.message or _DENIED)
        case "ask":
            return None


def _made_ready(body: Permission, call: Call, around: Surroundings, prepared: Preparation | None) -> Permission:
    if prepared is None or not call.is_shell or prepared.call != call:
        prepared = None
    path = body.input.get(FILE_TOOLS.get(body.tool, ""))
    now_in_file = around.read(path) if isinstance(path, str) else None
    diff = diff_of(body.tool, body.input, now_in_file)
    shown = replace(
        body,
        diff=diff.text if diff else None,
        diff_note=diff.note if diff else "",
        dangers=(prepared.dangers if prepared else dangers(call, around.resolve, diff.text if diff else None)) or UNSET,
    )
    if terms_of(body).is_strict:
        return replace(shown, offers=(), suggestions=(), suggestions_in_words=())
    words = tuple(suggestion_in_words(each) for each in body.suggestions)
    return replace(shown, offers=prepared.offers if prepared else _offers(call, around), suggestions_in_words=words)


def _offers(call: Call, around: Surroundings) -> tuple[Offer, ...]:
    offers = []
    for lasting in ("session", "always"):
        rules = suggest(call, lasting, resolve=around.resolve)
        if rules is not None:
            offers.append(Offer(lasting, offer_in_words(lasting, rules), rules))
    return tuple(offers)


def _rule_id(ask: Ask, scope: str, number: int) -> str:
    return ids.spell("r", sha256(f"{ask.id}/{scope}/{number}".encode()).digest())
