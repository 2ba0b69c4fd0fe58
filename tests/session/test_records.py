"""The session's own record, stored and published."""

from datetime import timedelta

from msgspec.structs import replace

from handraise.model.items import SessionChanged, SessionEnded
from handraise.model.sessions import Ended
from handraise.session import records
from handraise.session.memory import Memory
from handraise.store.changes import PublishItems, SaveSession
from session.claude_says import NOON
from session.stand_in import SESSION

LATER = NOON + timedelta(seconds=9)


def test_a_record_follows_what_the_machine_remembers() -> None:
    memory = Memory(title="Better", phase="working", mode="plan", model="opus", cost_before=1.0, cost_run=0.5)

    record = records.as_remembered(SESSION, memory, LATER)

    assert record == replace(
        SESSION, title="Better", phase="working", mode="plan", model="opus", cost_usd=1.5, changed_at=LATER
    )


def test_being_stuck_is_dated_from_its_beginning() -> None:
    stuck = records.as_remembered(SESSION, Memory(stuck=True), NOON)
    still = records.as_remembered(stuck, Memory(stuck=True), LATER)

    assert stuck.stuck_since == still.stuck_since == NOON
    assert records.as_remembered(still, Memory(), LATER).stuck_since is None


def test_a_change_is_kept_and_told_together() -> None:
    stuck = replace(SESSION, stuck_since=NOON)

    assert records.changed(stuck, "look") == [
        SaveSession(stuck),
        PublishItems("s_1", NOON, SessionChanged("starting", "default", None, "Fix it", 0.0, "look", NOON)),
    ]


def test_an_end_without_a_process_is_told_before_the_change() -> None:
    how = Ended("stopped", "ana stopped it", LATER, by="ana")

    text, record, _ = records.ended(SESSION, "exited", how)

    assert text == PublishItems("s_1", LATER, SessionEnded("stopped", "ana stopped it", None, "ana"))
    assert record == SaveSession(replace(SESSION, phase="ended", ended=how, changed_at=LATER))
