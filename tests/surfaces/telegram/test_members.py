"""Who may do what on Telegram, and where cards go."""

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from handraise.model.answers import Allow, Trusting
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, People, QuietHours, TelegramConfig, needed_for

ANA = Member(1001, "ana", "admin")
BO = Member(1002, "bo", "viewer")
TEAM = ChatPlace(-100200)
SHOP = ChatPlace(-100300, 17)
TOKEN = "1:AAAAAAAAAAAAAAAAAAAAAAAA"


def people(**settings: object) -> People:
    return People(TelegramConfig(TOKEN, (ANA, BO), **settings))  # type: ignore[arg-type]


def test_only_members_are_allowed() -> None:  # lesson 57
    assert people().member(1001) == ANA
    assert people().member(4711) is None
    assert people().member(None) is None


def test_a_member_has_a_seat_of_their_own() -> None:
    assert ANA.person.name == "ana"
    assert ANA.person.seat
    assert ANA.person.seat != Member(1003, "ana", "admin").person.seat


def test_a_project_with_a_route_goes_there_only() -> None:
    assert people(chats=(TEAM,), routes={"shop": SHOP}).places("shop") == (SHOP,)
    assert people(chats=(TEAM,), routes={"shop": SHOP}).places("other") == (TEAM,)
    assert people(chats=(TEAM,), routes={"shop": SHOP}).places(None) == (TEAM,)
    assert people(chats=(TEAM,), routes={"shop": SHOP}).project_at(SHOP) == "shop"


def test_without_chats_everyone_who_wrote_to_the_bot_gets_cards() -> None:
    some = people()
    assert some.places(None) == ()
    some.private[1001] = 1001
    some.private[4711] = 4711
    assert some.places(None) == (ChatPlace(1001),), "someone who is no longer allowed gets nothing"


def test_a_chat_with_a_new_number_is_followed() -> None:
    some = people(chats=(TEAM,), routes={"shop": TEAM})
    some.moved[TEAM] = ChatPlace(-100999)
    assert some.places(None) == some.places("shop") == (ChatPlace(-100999),)
    assert some.knows(ChatPlace(-100999), ANA)


def test_places_that_move_in_a_circle_end_somewhere() -> None:
    some = people(chats=(TEAM,))
    some.moved = {TEAM: SHOP, SHOP: TEAM}
    assert len(some.places(None)) == 1


def test_the_bot_talks_in_its_own_chats_and_nowhere_else() -> None:
    some = people(chats=(TEAM,), routes={"shop": SHOP})
    assert some.knows(ChatPlace(1001), ANA)
    assert some.knows(TEAM, BO)
    assert some.knows(ChatPlace(SHOP.chat, 4), BO)
    assert not some.knows(ChatPlace(-5), ANA)
    assert not some.knows(ChatPlace(1001), BO)


def test_a_viewer_gets_no_buttons_in_their_own_chat() -> None:
    some = people()
    some.private.update({1001: 1001, 1002: 1002})
    assert some.may_answer_at(ChatPlace(1001))
    assert not some.may_answer_at(ChatPlace(1002))
    assert some.may_answer_at(TEAM), "in a group each press is checked"


def test_trusting_a_directory_takes_an_admin() -> None:
    assert needed_for(Trusting("exactly")) == "admin"
    assert needed_for(Trusting("without")) == "approver"
    assert needed_for(Allow()) == "approver"


@pytest.mark.parametrize(
    ("start", "end", "at", "quiet"),
    [
        (22, 7, "2026-07-01T20:30:00Z", True),  # 22:30 in Berlin, in summer
        (22, 7, "2026-01-01T20:30:00Z", False),  # 21:30, in winter
        (22, 7, "2026-01-02T05:59:00Z", True),
        (22, 7, "2026-01-02T06:00:00Z", False),
        (9, 17, "2026-01-02T12:00:00Z", True),
        (9, 17, "2026-01-02T17:00:00Z", False),
    ],
)
def test_quiet_hours_are_those_of_their_time_zone(start: int, end: int, at: str, quiet: bool) -> None:
    hours = QuietHours(time(start), time(end), ZoneInfo("Europe/Berlin"))
    assert people(quiet=hours).is_silent(datetime.fromisoformat(at)) is quiet


def test_without_quiet_hours_nothing_is_silent() -> None:
    assert not people().is_silent(datetime(2026, 1, 1, tzinfo=UTC))


def test_the_token_is_not_in_the_representation() -> None:  # lesson 60
    assert TOKEN not in repr(TelegramConfig(TOKEN, (ANA,), (TEAM,)))


def test_a_group_shows_only_what_the_settings_send_there() -> None:
    some = people(chats=(TEAM,), routes={"shop": SHOP, "blog": ChatPlace(-100300, 18), "lab": ChatPlace(-100400)})
    assert some.shows(TEAM, None)
    assert some.shows(TEAM, "shop")
    assert some.shows(SHOP, "shop")
    assert not some.shows(SHOP, "blog")
    assert not some.shows(SHOP, None)
    assert some.shows(ChatPlace(-100300, 99), "blog"), "a session's own topic"
    assert not some.shows(ChatPlace(-100300, 99), "lab")
    assert not some.shows(ChatPlace(-100400), "shop")
    assert not some.shows(ChatPlace(-100500), "shop"), "a group that is no longer in the settings"
    some.moved[ChatPlace(-100400)] = ChatPlace(-100401)
    assert some.shows(ChatPlace(-100400), "lab")
    assert some.shows(ChatPlace(-100401), "lab")


def test_a_private_chat_shows_everything_to_members_only() -> None:
    some = people(chats=(TEAM,), routes={"shop": SHOP})
    assert some.shows(ChatPlace(1001), "shop")
    assert some.shows(ChatPlace(1001), None)
    assert not some.shows(ChatPlace(4711), "shop")
