"""Hypothesis strategies for the nouns that a store keeps."""

from datetime import UTC, datetime
from typing import Any, get_args

from hypothesis import strategies as st
from msgspec import UNSET, json

from handraise.model.actors import Actor, ByRule, Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Outline, Revise, Trusting
from handraise.model.asks import (
    Answered,
    Ask,
    Body,
    Dialog,
    Expired,
    Form,
    Kind,
    Offer,
    Option,
    Origin,
    Permission,
    Plan,
    Prompt,
    Question,
    Settlement,
    Withdrawn,
)
from handraise.model.audit import Entry, What
from handraise.model.projects import Options, Patience, Project
from handraise.model.rules import Rule
from handraise.model.sessions import Checkpoint, Ended, Say, Session
from handraise.model.tokens import ROLES, Token
from handraise.model.trust import Brought, BroughtKind, Trust, TrustLevel
from handraise.model.usage import UsageLimit

texts = st.text(max_size=20)
names = st.text("abcdef", min_size=1, max_size=8)
times = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_texts = json_values.map(lambda value: json.encode(value).decode())
json_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(texts, json_values, max_size=3)
actors: st.SearchStrategy[Actor] = (
    st.builds(Person, texts) | st.builds(ByRule, texts, texts) | st.builds(TheHub)  # one of each kind
)

rules = st.builds(
    Rule,
    id=names,
    decision=st.sampled_from(["allow", "deny", "ask"]),
    tool=st.none() | texts,
    command=st.none() | texts,
    path=st.none() | texts,
    server=st.none() | texts,
    project=st.none() | names,
    session=st.none() | names,
    mode=st.none() | texts,
    message=texts,
    expires_at=st.none() | times,
    made_by=texts,
    made_at=st.none() | times,
    source=st.sampled_from(["settings", "person"]),
)
offers = st.builds(
    Offer, lasting=st.sampled_from(["session", "always"]), scope=texts, rules=st.lists(rules, max_size=2).map(tuple)
)

bodies: dict[Kind, st.SearchStrategy[Body]] = {
    "question": st.builds(
        Question,
        st.lists(
            st.builds(
                Prompt,
                texts,
                texts,
                st.lists(st.builds(Option, texts, texts, st.none() | texts), max_size=3).map(tuple),
                st.booleans(),
                st.just(UNSET) | st.booleans(),
            ),
            max_size=3,
        ).map(tuple),
        dialog=st.just(UNSET) | st.builds(Dialog, texts, st.lists(texts, max_size=3).map(tuple)),
    ),
    "permission": st.builds(
        Permission,
        tool=texts,
        input=json_objects,
        description=texts,
        reason=texts,
        blocked_path=st.none() | texts,
        suggestions=st.lists(json_objects, max_size=2).map(tuple),
        suggestions_in_words=st.lists(texts, max_size=2).map(tuple),
        diff=st.none() | texts,
        diff_note=texts,
        offers=st.lists(offers, max_size=2).map(tuple),
    ),
    "plan": st.builds(Plan, texts),
    "form": st.builds(Form, texts, texts, json_objects, st.just(UNSET) | texts),
    "trust": st.builds(
        Trust,
        texts,
        st.lists(st.builds(Brought, st.sampled_from(get_args(BroughtKind)), texts, texts, texts), max_size=2).map(
            tuple
        ),
        st.dictionaries(texts, texts, max_size=2),
        st.lists(texts, max_size=2).map(tuple),
    ),
}
answers: dict[Kind, st.SearchStrategy[Answer]] = {
    "question": st.builds(
        Choices,
        st.lists(st.builds(Choice, st.lists(texts, max_size=3).map(tuple), st.none() | texts), max_size=3).map(tuple),
    ),
    "permission": st.builds(
        Allow,
        st.sampled_from(["once", "session", "always"]),
        st.none() | json_objects,
        st.lists(st.integers(0, 9), max_size=2).map(tuple),
    )
    | st.builds(Deny, texts, st.booleans()),
    "plan": st.builds(Approve, st.sampled_from(["default", "acceptEdits"]), st.none() | texts)
    | st.builds(Revise, texts)
    | st.builds(Outline),
    "form": st.builds(Filled, st.sampled_from(["accept", "decline", "cancel"]), st.none() | json_objects),
    "trust": st.builds(Trusting, st.sampled_from(get_args(TrustLevel))),
}


def settlements(kind: Kind) -> st.SearchStrategy[Settlement]:
    answered = st.builds(Answered, answers[kind], actors, texts, times)
    return answered | st.builds(Expired, times, st.none() | answered) | st.builds(Withdrawn, texts, times)


def asks(kind: Kind) -> st.SearchStrategy[Ask]:
    return st.builds(
        Ask,
        id=names,
        session=st.none() | names,
        project=st.none() | names,
        body=bodies[kind],
        tool=texts,
        origin=st.builds(Origin, texts, st.none() | texts, json_texts),
        opened_at=times,
        asker=st.sampled_from(["session", "agent"]),
        agent=st.none() | texts,
        why=texts,
        expires_at=st.none() | times,
        settlement=st.none() | settlements(kind),
        delivered_at=st.none() | times,
    )


sessions = st.builds(
    Session,
    id=names,
    project=st.none() | names,
    directory=texts,
    claude_id=texts,
    title=texts,
    created_at=times,
    changed_at=times,
    phase=st.sampled_from(["queued", "starting", "idle", "working", "stopping", "ended"]),
    mode=texts,
    model=st.none() | texts,
    cost_usd=st.floats(0, 1e6),
    run=st.integers(0, 100),
    ended=st.none()
    | st.builds(
        Ended,
        st.sampled_from(["stopped", "finished", "failed", "lost"]),
        texts,
        times,
        st.none() | st.integers(-9, 255),
    ),
    stuck_since=st.none() | times,
    forked_from=st.none() | names,
    usage=st.lists(
        st.builds(UsageLimit, texts, st.none() | st.floats(0, 10), st.none() | times, st.booleans()), max_size=3
    ).map(tuple),
)
checkpoints = st.builds(Checkpoint, names, st.integers(0, 100), st.integers(0, 2**62), st.binary(max_size=40))
says = st.builds(
    Say, names, names, texts | st.lists(json_objects, max_size=3).map(tuple), actors, texts, times, st.none() | times
)
seconds = st.none() | st.floats(0, 1e6)
projects = st.builds(
    Project,
    names,
    texts,
    texts,
    st.builds(
        Options,
        mode=st.none() | texts,
        allowed_tools=st.lists(texts, max_size=3).map(tuple),
        ask_user_enabled=st.none() | st.booleans(),
        ask_user_timeout=st.none() | st.integers(0, 900),
        patience=st.builds(Patience, seconds, seconds, seconds, seconds),
        cost_limit_usd=seconds,
    ),
    st.none() | times,
)
tokens = st.builds(
    Token,
    id=names,
    name=texts,
    role=st.sampled_from(ROLES),
    hash=texts,
    created_at=times,
    expires_at=st.none() | times,
    last_used_at=st.none() | times,
    revoked_at=st.none() | times,
    kind=st.sampled_from(["token", "browser", "code"]),
)
entries = st.builds(
    Entry,
    at=times,
    what=st.sampled_from(get_args(What)),
    by=actors,
    source=texts,
    ask=st.none() | names,
    session=st.none() | names,
    digest=st.none() | texts,
    rule=st.none() | names,
    detail=json_objects,
)
