"""Who is notified, when and where, and why not."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.tokens import ROLES, Role, may
from handraise.reach.decision import (
    GRACE,
    LOOKING,
    ChannelFacts,
    HoldBack,
    ReachWorld,
    SendNow,
    Skip,
    candidates,
    decide,
    next_for,
)
from handraise.reach.model import (
    ALL,
    EVERYTHING,
    PUSH,
    TELEGRAM,
    Chain,
    ChainStep,
    Mute,
    Target,
    ToChannel,
    ToChannels,
    ToDevices,
    ToPerson,
    ToScreens,
    ToTelegram,
)
from handraise.reach.quiet import QuietWindow
from handraise.reach.urgency import AskFacts, urgency_of

NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)
NIGHT = datetime(2030, 1, 2, 2, tzinfo=UTC)
PHONE = ChannelFacts("c_phone", "ana")
SLACK = ChannelFacts("c_slack", ALL)
ANA_ALONE = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,))
BERLIN = QuietWindow(time(22), time(7), ZoneInfo("Europe/Berlin"))


def ask_at(opened: datetime, **more: object) -> AskFacts:
    return AskFacts("a_1", "permission", opened, "s_1", "p_1", **more)  # type: ignore[arg-type]


def verdict(ask: AskFacts, world: ReachWorld, now: datetime | None = None) -> object:
    (each,) = candidates(ask, world)[1:]  # the first are screens
    return decide(ask, each, world, (), now or ask.opened_at + GRACE)


def test_without_a_chain_everything_is_sent_at_once() -> None:
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE, SLACK), devices={"ana", "ben"}, has_telegram=True)
    found = [(each.channel, each.person, each.due - NOON) for each in candidates(ask_at(NOON), world)]
    assert found == [
        ("screens", ALL, GRACE),
        (PUSH, "ana", GRACE),
        (PUSH, "ben", GRACE),
        (TELEGRAM, ALL, timedelta(0)),
        ("c_phone", "ana", GRACE),
        ("c_slack", ALL, GRACE),
    ]


def test_a_projects_own_chain_comes_before_the_one_for_all() -> None:
    own = Chain("p_1", (ChainStep(60, (ToChannel("c_phone"),)),))
    every = Chain(ALL, (ChainStep(0, (ToChannels(),)),))
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), chains={"p_1": own, ALL: every})
    assert [each.due for each in candidates(ask_at(NOON), world)] == [NOON + timedelta(seconds=60)]
    other = AskFacts("a_2", "question", NOON, "s_2", "p_2")
    assert [each.due for each in candidates(other, world)] == [NOON + GRACE]


def test_before_its_time_a_step_waits() -> None:
    assert verdict(ask_at(NOON), ANA_ALONE, NOON) == HoldBack("not_due", NOON + GRACE)


def test_nobody_is_notified_of_what_they_look_at() -> None:
    for seen in ({"s_1"}, {EVERYTHING}):
        world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), looking={"ana": seen})
        assert verdict(ask_at(NOON), world) == HoldBack("looking", NOON + GRACE + LOOKING)
        assert verdict(ask_at(NOON), world, NOON + GRACE + LOOKING) == SendNow(), "nobody is there after all"
    elsewhere = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), looking={"ana": {"s_2"}, "ben": {"s_1"}})
    assert verdict(ask_at(NOON), elsewhere) == SendNow()


def test_a_shared_channel_hears_of_it_whoever_is_looking_or_asleep() -> None:
    world = ReachWorld(channels=(SLACK,), looking={"ana": {"s_1"}}, quiet={"ana": BERLIN})
    assert verdict(ask_at(NIGHT), world) == SendNow()


def test_who_can_not_answer_is_not_notified() -> None:
    assert verdict(ask_at(NOON), ReachWorld(roles={"ana": "viewer"}, channels=(PHONE,))) == Skip("not_allowed")
    assert verdict(ask_at(NOON), ReachWorld(channels=(PHONE,))) == Skip("not_allowed")


@pytest.mark.parametrize("muted", [{"session": "s_1"}, {"project": "p_1"}])
@pytest.mark.parametrize("person", ["ana", ALL])
def test_a_mute_holds_until_it_ends(muted: dict[str, str], person: str) -> None:
    until = NOON + timedelta(hours=1)
    mute = Mute("q_1", person, "ana", NOON, until=until, **muted)
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), mutes=(mute,))
    assert verdict(ask_at(NOON), world) == HoldBack("muted", until)
    assert verdict(ask_at(NOON), world, until) == SendNow()


def test_a_mute_of_another_session_or_person_changes_nothing() -> None:
    mutes = (Mute("q_1", "ana", "ana", NOON, session="s_2"), Mute("q_2", "ben", "ben", NOON, session="s_1"))
    assert verdict(ask_at(NOON), ReachWorld(roles={"ana": "admin"}, channels=(PHONE,), mutes=mutes)) == SendNow()


def test_quiet_hours_hold_until_their_end() -> None:
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), quiet={"ana": BERLIN})
    quiet = ask_at(NIGHT)
    assert verdict(AskFacts("a_1", "form", NIGHT, "s_1"), world) == HoldBack("quiet", NIGHT.replace(hour=6))
    assert verdict(quiet, world, NIGHT.replace(hour=6)) == SendNow()


def test_an_urgent_ask_gets_through_unless_the_person_says_no() -> None:
    danger = ask_at(NIGHT, is_dangerous=True)
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), quiet={"ana": BERLIN})
    assert verdict(danger, world) == SendNow()
    strict = QuietWindow(time(22), time(7), ZoneInfo("Europe/Berlin"), urgent_gets_through=False)
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), quiet={"ana": strict})
    assert verdict(danger, world) == HoldBack("quiet", NIGHT.replace(hour=6))


def test_an_ask_that_becomes_urgent_gets_through_then() -> None:
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), quiet={"ana": BERLIN})
    waiting = ask_at(NIGHT)
    assert urgency_of(waiting, NIGHT) == "normal"
    assert verdict(waiting, world) == HoldBack("quiet", NIGHT + timedelta(hours=1))
    assert verdict(waiting, world, NIGHT + timedelta(hours=1)) == SendNow()


def test_urgency_is_made_of_kind_danger_waiting_expiry_and_what_it_blocks() -> None:
    def urgency(kind: str = "permission", waited: int = 0, **more: object) -> str:
        ask = AskFacts("a_1", kind, NOON, "s_1", **more)  # type: ignore[arg-type]
        return urgency_of(ask, NOON + timedelta(minutes=waited))

    assert urgency("form") == "low"
    assert urgency("question") == "normal"
    assert urgency("permission", 59) == "normal"
    assert urgency("permission", 60) == "high"
    assert urgency("permission", is_dangerous=True) == "high"
    assert urgency("permission", expires_at=NOON + timedelta(minutes=5)) == "high"
    assert urgency("permission", 20, waiting=3) == "high"
    assert urgency("trust", 15) == "high"


def test_a_channel_may_get_a_reminder_and_a_device_may_not() -> None:
    steps = (ChainStep(0, (ToChannel("c_phone"), ToDevices())), ChainStep(60, (ToChannel("c_phone"), ToDevices())))
    world = ReachWorld(roles={"ana": "approver"}, channels=(PHONE,), devices={"ana"}, chains={ALL: Chain(ALL, steps)})
    ask, later = ask_at(NOON), NOON + timedelta(minutes=1)
    done = {(0, "c_phone", "ana"), (0, PUSH, "ana")}
    found = {each.key: decide(ask, each, world, done, later) for each in candidates(ask, world)}
    assert found == {
        (0, "c_phone", "ana"): Skip("already_sent"),
        (0, PUSH, "ana"): Skip("already_sent"),
        (1, "c_phone", "ana"): SendNow(),
        (1, PUSH, "ana"): Skip("already_sent"),
    }


def test_a_deputy_is_reached_by_their_devices_and_own_channels() -> None:
    steps = (ChainStep(3600, (ToPerson("ben"),)),)
    channels = (PHONE, ChannelFacts("c_ben", "ben"), SLACK)
    world = ReachWorld(
        roles={"ben": "admin"}, channels=channels, devices={"ana", "ben"}, chains={ALL: Chain(ALL, steps)}
    )
    assert [each.key[1:] for each in candidates(ask_at(NOON), world)] == [(PUSH, "ben"), ("c_ben", "ben")]


def test_what_delivers_by_itself_asks_for_its_first_step() -> None:
    world = ReachWorld(devices={"ana"}, has_telegram=True, looking={"ana": {"s_1"}})
    ask, now = ask_at(NOON), NOON + GRACE
    found = next_for(ask, PUSH, "ana", world, (), now)
    assert found is not None
    assert found[1] == HoldBack("looking", now + LOOKING)
    chat = next_for(ask, TELEGRAM, "ana", world, (), now)
    assert chat is not None
    assert chat[1] == HoldBack("looking", NOON + LOOKING)
    group = next_for(ask, TELEGRAM, ALL, world, (), now)
    assert group is not None
    assert group[1] == SendNow()
    nothing = ReachWorld(chains={ALL: Chain(ALL, (ChainStep(0, (ToScreens(),)),))}, devices={"ana"})
    assert next_for(ask, PUSH, "ana", nothing, (), now) is None


@pytest.mark.parametrize(
    ("now", "ends"),
    [
        # Winter, summer, and the two nights in which the clocks change in Berlin.
        ("2030-01-15T23:00:00+01:00", "2030-01-16T07:00:00+01:00"),
        ("2030-07-15T03:00:00+02:00", "2030-07-15T07:00:00+02:00"),
        ("2030-03-30T23:00:00+01:00", "2030-03-31T07:00:00+02:00"),
        ("2030-10-26T23:00:00+02:00", "2030-10-27T07:00:00+01:00"),
        ("2030-10-27T06:59:00+01:00", "2030-10-27T07:00:00+01:00"),
        ("2030-10-27T07:00:00+01:00", None),
        ("2030-03-31T21:59:00+02:00", None),
        ("2030-03-31T22:00:00+02:00", "2030-04-01T07:00:00+02:00"),
    ],
)
def test_quiet_hours_follow_the_clocks_of_their_zone(now: str, ends: str | None) -> None:
    assert BERLIN.ends_at(datetime.fromisoformat(now)) == (datetime.fromisoformat(ends) if ends else None)


PEOPLE = ("ana", "ben", "cy")
MOMENTS = st.datetimes(datetime(2030, 1, 1), datetime(2030, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 (bounds)
TARGETS: st.SearchStrategy[Target] = st.one_of(
    st.just(ToScreens()),
    st.builds(ToDevices, st.sampled_from((ALL, *PEOPLE))),
    st.just(ToTelegram()),
    st.just(ToChannels()),
    st.builds(ToChannel, st.sampled_from(("c_0", "c_1", "c_2"))),
    st.builds(ToPerson, st.sampled_from(PEOPLE)),
)
STEPS = st.lists(st.builds(ChainStep, st.integers(0, 90_000), st.lists(TARGETS, min_size=1).map(tuple)), max_size=4)
ROLE: st.SearchStrategy[Role] = st.sampled_from(ROLES)
WINDOWS = st.builds(
    QuietWindow,
    st.times().map(lambda each: each.replace(second=0, microsecond=0, tzinfo=None)),
    st.times().map(lambda each: each.replace(second=1, microsecond=0, tzinfo=None)),
    st.sampled_from([ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Australia/Lord_Howe")]),
    st.booleans(),
)
MUTES = st.builds(
    Mute,
    st.just("q"),
    st.sampled_from((ALL, *PEOPLE)),
    st.just("ana"),
    MOMENTS,
    session=st.sampled_from([None, "s_1", "s_2"]),
    project=st.sampled_from([None, "p_1"]),
    until=st.none() | MOMENTS,
)
WORLDS = st.builds(
    ReachWorld,
    roles=st.dictionaries(st.sampled_from(PEOPLE), ROLE),
    quiet=st.dictionaries(st.sampled_from(PEOPLE), WINDOWS),
    mutes=st.lists(MUTES, max_size=3).map(tuple),
    looking=st.dictionaries(st.sampled_from(PEOPLE), st.sets(st.sampled_from(["s_1", "s_2", EVERYTHING]))),
    channels=st.lists(st.sampled_from((ALL, *PEOPLE)), max_size=3).map(
        lambda owners: tuple(ChannelFacts(f"c_{number}", owner) for number, owner in enumerate(owners))
    ),
    devices=st.sets(st.sampled_from(PEOPLE)),
    has_telegram=st.booleans(),
    chains=STEPS.map(lambda steps: {ALL: Chain(ALL, tuple(steps))} if steps else {}),
)
ASKS = st.builds(
    AskFacts,
    st.just("a_1"),
    st.sampled_from(["question", "permission", "plan", "form", "trust"]),
    MOMENTS,
    st.sampled_from([None, "s_1"]),
    st.sampled_from([None, "p_1"]),
    st.none() | MOMENTS,
    st.booleans(),
    st.booleans(),
    st.integers(1, 5),
)


@given(ASKS, WORLDS, MOMENTS)
def test_whatever_the_world_is_like_the_rules_hold(ask: AskFacts, world: ReachWorld, now: datetime) -> None:
    keys = [each.key for each in candidates(ask, world)]
    assert len(keys) == len(set(keys)), "the same step twice"
    for each in candidates(ask, world):
        found = decide(ask, each, world, (), now)
        if not isinstance(found, SendNow):
            assert not isinstance(found, HoldBack) or found.until is None or found.until > now
            continue
        assert ask.is_open, "a settled ask is never announced"
        assert now >= each.due
        assert decide(ask, each, world, {each.key}, now) == Skip("already_sent")
        assert not any(mute.covers(each.person, ask.session, ask.project, now) for mute in world.mutes)
        if each.person == ALL:
            continue
        role = world.roles.get(each.person)
        assert each.channel == PUSH or (role is not None and may(role, "approver"))
        seen = world.looking.get(each.person, ())
        is_looking = EVERYTHING in seen or ask.session in seen
        assert not is_looking or now >= each.due + LOOKING
        window = world.quiet.get(each.person)
        if window is not None and window.ends_at(now) is not None:
            assert window.urgent_gets_through
            assert urgency_of(ask, now) == "high"


@given(ASKS, WORLDS, MOMENTS)
def test_what_is_held_until_a_time_is_decided_anew_then(ask: AskFacts, world: ReachWorld, now: datetime) -> None:
    """Following each time leads to an end: nothing is held for ever by the clock alone."""
    for each in candidates(ask, world):
        moment, found = now, decide(ask, each, world, (), now)
        for _ in range(20):
            if not isinstance(found, HoldBack) or found.until is None:
                break
            assert found.until > moment
            moment = found.until
            found = decide(ask, each, world, (), moment)
        assert not isinstance(found, HoldBack) or found.until is None
