"""The log of one ask: who pressed which button, and who looked first."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from handraise.reach.model import AskLog, ButtonSecret, NoticeEntry

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DENY = ButtonSecret("h_1", "deny", {"allow": False}, "ana", "sha256:1")
ALLOW = ButtonSecret("h_2", "allow", {"allow": True}, "ana", "sha256:1")
SENT = NoticeEntry(0, "c_1", "ana", "sent", NOON, buttons=(DENY, ALLOW))


def test_a_pressed_button_is_used_up_and_its_person_has_noticed() -> None:
    log = AskLog("a_1", NOON, entries=(SENT,)).pressed(DENY, NOON)

    assert [each.used for each in log.entries[0].buttons] == [True, False]
    assert (log.noticed_at, log.noticed_by) == (NOON, "ana")


def test_a_press_counts_although_its_message_was_taken_back_in_the_same_moment() -> None:
    taken_back = replace(SENT, state="retracted", buttons=())
    log = AskLog("a_1", NOON, entries=(SENT,)).adding(taken_back).pressed(DENY, NOON)

    assert log.entries == (taken_back,)
    assert log.noticed_by == "ana"


def test_who_looked_first_stays_the_first() -> None:
    seen = AskLog("a_1", NOON, entries=(SENT,), noticed_at=NOON, noticed_by="ben")
    log = seen.pressed(DENY, NOON + timedelta(seconds=5))

    assert (log.noticed_at, log.noticed_by) == (NOON, "ben")
