"""A card as all of its messages."""

import pytest

from desk.hubs import NOON
from handraise.model.asks import Ask, Origin, Permission
from handraise.surfaces.telegram.conversation import CardState
from handraise.surfaces.telegram.rendered import AskOrigin, card_link, open_card, retired_card, settled_card

ASK = Ask("a_1", "s_1", None, Permission("Bash", {"command": "npm test"}), "Bash", Origin("r"), NOON)
FROM = AskOrigin("/work/app", "Fix it")


@pytest.mark.parametrize("page", ["http://127.0.0.1:8420", "http://localhost:8420", "http://[::1]:8420", ""])
def test_a_page_that_a_phone_cannot_reach_is_not_linked(page: str) -> None:
    assert card_link(page, "a_1") == ""


def test_a_card_is_linked_where_the_page_shows_it() -> None:
    assert card_link("https://hub.example.org", "a_1") == "https://hub.example.org/#card-a_1"


def test_the_same_look_has_the_same_fingerprint_and_every_change_another() -> None:
    first = open_card(ASK, FROM, CardState(), "", with_buttons=True)
    assert first.look == open_card(ASK, FROM, CardState(), "", with_buttons=True).look
    others = [
        open_card(ASK, FROM, CardState(revision=1), "", with_buttons=True),
        open_card(ASK, FROM, CardState(), "", with_buttons=False),
        open_card(ASK, AskOrigin("/work/app", "Other"), CardState(), "", with_buttons=True),
        settled_card(ASK, FROM),
        retired_card(),
    ]
    assert len({first.look.shown, *(each.look.shown for each in others)}) == 6
    assert [each.look.is_open for each in others] == [True, True, True, False, False]


def test_without_buttons_everything_else_is_the_same() -> None:
    card = open_card(ASK, FROM, CardState(), "", with_buttons=False)
    assert card.keyboard == ()
    assert card.content == open_card(ASK, FROM, CardState(), "", with_buttons=True).content
