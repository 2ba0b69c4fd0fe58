"""The ask: its kind, its state, its digest, and how the API shows it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handraise.model.asks import (
    KINDS,
    Ask,
    Body,
    Form,
    Option,
    Permission,
    Plan,
    Prompt,
    Question,
    Settlement,
    ask_as_json,
    digest_of,
    read_body,
    read_settlement,
    settlement_as_json,
)
from store.examples import an_ask, answered, denied, expired, withdrawn
from store.values import asks, bodies, settlements

any_body = st.sampled_from(KINDS).flatmap(lambda kind: bodies[kind])


@pytest.mark.parametrize(
    ("settlement", "state"),
    [(None, "open"), (answered(), "answered"), (expired(), "expired"), (withdrawn(), "withdrawn")],
)
def test_the_state_follows_from_the_settlement(settlement: Settlement | None, state: str) -> None:
    assert replace(an_ask(), settlement=settlement).state == state


@given(any_body, any_body)
def test_a_digest_names_the_body_and_nothing_else(one: Body, other: Body) -> None:
    assert (digest_of(one) == digest_of(other)) == (type(one) is type(other) and _same(one, other))


def _same(one: Body, other: Body) -> bool:
    """1, 1.0 and True are equal to Python, and three things to a person who reads them."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    one = Permission("Write", {"file_path": "a", "content": {"x": 1, "y": 2}})
    other = Permission("Write", {"content": {"y": 2, "x": 1}, "file_path": "a"})

    assert digest_of(one) == digest_of(other)
    assert digest_of(one) != digest_of(Permission("Write", {"file_path": "b", "content": {"x": 1, "y": 2}}))


def test_a_digest_of_an_earlier_version_is_still_the_same() -> None:
    form = digest_of(Form("Where?", "post", {}))
    question = digest_of(Question((Prompt("Which?", "", (Option("A"),)),)))

    assert form == "sha256:b220312c77f622f8305a6459102d8b99a24511a325268ad423168548ea7f9df4"
    assert question == "sha256:a4e7b4efc80e9099b4b914637a870b2f18c7aa0b5004f83330d6bb0ecef1e4ee"


def test_two_kinds_with_the_same_words_have_two_digests() -> None:
    assert digest_of(Plan("x")) != digest_of(Permission("x", {}))


@given(st.sampled_from(KINDS).flatmap(asks))
def test_a_body_and_a_settlement_come_back_as_they_were_stored(ask: Ask) -> None:
    assert read_body(ask.kind, msgspec.json.encode(ask.body)) == ask.body
    if ask.settlement is not None:
        text = msgspec.json.encode(settlement_as_json(ask.settlement))
        assert read_settlement(ask.kind, text) == ask.settlement


@given(st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(asks(kind), settlements(kind))))
def test_the_api_shows_everything_but_where_an_ask_came_from(text: tuple[Ask, Settlement]) -> None:
    ask = replace(text[0], settlement=text[1])

    shown = msgspec.json.decode(msgspec.json.encode(ask_as_json(ask)))

    assert "origin" not in shown
    assert (shown["id"], shown["kind"], shown["state"], shown["digest"]) == (ask.id, ask.kind, ask.state, ask.digest)
    assert shown["settlement"]["state"] == ask.state


def test_a_settlement_says_who_what_and_from_where() -> None:
    shown = settlement_as_json(denied())

    assert shown["answer"] == {"allow": False, "message": "no", "interrupt": False}
    assert shown["by"] == {"kind": "person", "name": "ben"}
    assert shown["from"] == "telegram"
