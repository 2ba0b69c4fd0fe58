"""The keeper: each step is sent once, whatever happens to the hub, and taken back when someone answers."""

import asyncio
from datetime import timedelta

import pytest

from handraise.auth import Auth, Principal
from handraise.channels.model import ChannelError
from handraise.model.actors import Person
from handraise.reach.decision import GRACE
from handraise.reach.model import ALL, ChainStep, QuietSettings, ToChannel, ToPerson
from handraise.reach.notifications import Notifications
from handraise.reach.settings import StoredChannel
from reach.reached import Deadly, ReachedWorld

ANA = Principal(Person("ana"), "approver")
OWNER = Principal(Person("owner"), "admin")
NTFY = {"topic": "shop-4711"}


async def add(hub: Notifications, name: str, by: Principal = ANA, **more: bool) -> StoredChannel:
    return await hub.add_channel(
        by, name, "ntfy", NTFY, with_content=more.get("with_content", False), shared=more.get("shared", False)
    )


async def chained(hub: Notifications, world: ReachedWorld) -> None:
    """At once Ana's phone, after a minute everybody's, after an hour Ben."""
    await world.person("ana")
    await world.person("ben")
    phone, slack = await add(hub, "phone"), await add(hub, "slack", OWNER, shared=True)
    await add(hub, "ben's", Principal(Person("ben"), "approver"))
    steps = (
        ChainStep(0, (ToChannel(phone.id),)),
        ChainStep(60, (ToChannel(slack.id),)),
        ChainStep(3600, (ToPerson("ben"),)),
    )
    await hub.set_chain(ALL, steps)


async def states(hub: Notifications, ask: str = "a_1") -> list[tuple[str, str, str | None]]:
    return [(each.label, each.state, each.reason) for each in (await hub.log_of(ask)).entries]


async def test_each_step_is_sent_at_its_time_and_an_answer_takes_everything_back(everywhere: ReachedWorld) -> None:
    world, hub = everywhere, everywhere.hub()
    await chained(hub, world)
    ask = await world.ask()
    assert await hub.keeper.look() == ask.opened_at + GRACE
    assert world.box.names() == []
    world.later(seconds=2)
    assert await hub.keeper.look() == ask.opened_at + timedelta(seconds=60)
    assert world.box.names() == ["phone"]
    await hub.keeper.look()
    assert world.box.names() == ["phone"]
    world.later(minutes=1)
    await hub.keeper.look()
    assert world.box.names() == ["phone", "slack"]
    await world.answer("a_1")
    world.later(hours=2)
    await hub.keeper.look()
    assert world.box.names() == ["phone", "slack"]
    assert world.box.shown == {}
    assert await states(hub) == [("phone", "retracted", None), ("slack", "retracted", None)]


async def test_the_default_text_has_nothing_that_claude_wrote(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    ask = await world.ask()
    world.later(seconds=2)
    await hub.keeper.look()
    [(_, message)] = world.box.arrived
    assert (message.title, message.text) == ("Claude needs you: a permission", "")
    assert message.link == "https://hub.example/sessions/s_1#card-a_1"
    assert "npm" not in repr(message)
    assert "Secret" not in repr(message)
    assert [each.label for each in message.buttons] == ["Deny"]
    assert ask.kind == "permission"


async def test_with_content_the_card_is_in_it_and_allowing_is_one_tap(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone", with_content=True)
    await world.ask()
    world.later(seconds=2)
    await hub.keeper.look()
    [(_, message)] = world.box.arrived
    assert message.title == "Run npm test?"
    assert "Secret plans" in message.text
    assert [each.label for each in message.buttons] == ["Deny", "Allow once"]


async def test_asks_of_one_session_within_seconds_are_one_notification(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    await world.ask("a_1")
    world.later(seconds=1.5)
    await world.ask("a_2")
    await world.ask("a_other", session="s_2")
    world.later(seconds=0.5)
    await hub.keeper.look()
    world.later(seconds=5)
    await hub.keeper.look()
    titles = [message.title for _, message in world.box.arrived]
    assert titles == ["Claude needs you: 2 requests", "Claude needs you: a permission"]
    await world.answer("a_1")
    await hub.keeper.look()
    assert len(world.box.shown) == 2
    await world.answer("a_2")
    await hub.keeper.look()
    assert [message.title for message in world.box.shown.values()] == ["Claude needs you: a permission"]


async def test_who_is_looking_is_not_notified_until_they_look_away(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    await hub.see(ANA, "page", is_focused=True, view="session", session="s_1")
    await world.ask()
    world.later(seconds=2)
    await hub.keeper.look()
    assert world.box.names() == []
    assert await states(hub) == [("phone", "held", "looking")]
    await hub.see(ANA, "page", is_focused=False, view="session", session="s_1")
    await hub.keeper.look()
    assert world.box.names() == ["phone"]
    assert await states(hub) == [("phone", "held", "looking"), ("phone", "sent", None)]


async def test_a_page_that_reports_nothing_any_more_counts_as_away(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    await hub.see(ANA, "page", is_focused=True, view="inbox", session=None)
    await world.ask()
    world.later(seconds=59)
    await hub.keeper.look()
    assert world.box.names() == []
    world.later(seconds=2)
    await hub.keeper.look()
    assert world.box.names() == ["phone"]


async def test_an_attached_terminal_counts_while_it_is_attached(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    await world.ask()
    world.later(seconds=5)
    with hub.attached(ANA, "s_1"):
        await hub.idle()
        await hub.keeper.look()
        assert world.box.names() == []
    await hub.keeper.look()
    assert world.box.names() == ["phone"]
    assert (await hub.log_of("a_1")).noticed_by == "ana"


async def test_quiet_hours_hold_it_until_the_morning(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    await hub.set_quiet("ana", QuietSettings("22:00", "14:00", "Europe/Berlin", urgent_gets_through=False))
    await world.ask()
    world.later(seconds=2)
    assert await hub.keeper.look() == world.now.replace(hour=13, second=0)
    assert world.box.names() == []
    world.now = world.now.replace(hour=13, second=0)
    await hub.keeper.look()
    assert world.box.names() == ["phone"]


async def test_a_failing_channel_is_reported_and_does_not_hold_up_the_others(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "broken")
    await add(hub, "phone")
    world.box.errors["broken"] = ChannelError("The server refused it.", permanent=True)
    await world.ask()
    world.later(seconds=2)
    await hub.keeper.look()
    assert world.box.names() == ["phone"]
    [failure] = world.failures
    assert (failure.channel, failure.kind, failure.person, failure.ask) == ("broken", "ntfy", "ana", "a_1")
    assert failure.reason == "The server refused it."
    [broken, _] = await hub.channels(ANA)
    assert broken[1] is not None
    assert broken[1].trouble == "The server refused it."
    world.later(minutes=10)
    await hub.keeper.look()
    assert len(world.failures) == 1


async def test_what_failed_for_a_moment_is_tried_again_and_then_given_up(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    world.box.errors["phone"] = ChannelError("Busy.", permanent=False)
    await world.ask()
    world.later(seconds=2)
    wake = await hub.keeper.look()
    assert world.failures == []
    # Its own round hears of the failure only in the next one.
    wake = await hub.keeper.look()
    assert wake == world.now + timedelta(seconds=5)
    for _ in range(4):
        world.later(seconds=121)
        await hub.keeper.look()
    assert [each.reason for each in world.failures] == ["Busy."]
    assert await states(hub) == [("phone", "failed", None)]
    del world.box.errors["phone"]
    world.later(hours=1)
    await hub.keeper.look()
    assert world.box.names() == []


async def test_a_second_attempt_is_not_made_in_quiet_hours_nor_for_who_lost_access(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    world.box.errors["phone"] = ChannelError("Busy.", permanent=False)
    await world.ask()
    world.later(seconds=2)
    await hub.keeper.look()
    del world.box.errors["phone"]
    await hub.set_quiet("ana", QuietSettings("12:00", "14:00", "UTC", urgent_gets_through=False))
    world.later(minutes=5)
    assert await hub.keeper.look() == world.now.replace(hour=14, minute=0, second=0)
    assert world.box.names() == []
    for token in await Auth(world.store, world.clock, world.entropy).tokens():
        await Auth(world.store, world.clock, world.entropy).revoke(token.id, Person("owner"), "test")
    world.later(hours=3)
    await hub.keeper.look()
    assert world.box.names() == []
    assert (await states(hub))[-1] == ("phone", "skipped", "not_allowed")


async def test_what_is_on_its_way_when_someone_answers_is_taken_back_when_it_has_arrived(world: ReachedWorld) -> None:
    hub = world.hub()
    await world.person("ana")
    await add(hub, "phone")
    await world.ask()
    world.later(seconds=2)
    world.box.slow = asyncio.Event()
    looking = asyncio.create_task(hub.keeper.look())
    async with asyncio.timeout(30):
        await world.box.began.wait()
    await world.answer("a_1")
    other = asyncio.create_task(hub.keeper.look())
    await asyncio.sleep(0)
    world.box.slow.set()
    await asyncio.gather(looking, other)
    await hub.keeper.look()
    assert world.box.names() == ["phone"]
    assert world.box.shown == {}
    assert await states(hub) == [("phone", "retracted", None)]


async def test_what_was_settled_while_no_hub_was_there_is_taken_back_by_the_next(everywhere: ReachedWorld) -> None:
    world, hub = everywhere, everywhere.hub()
    await chained(hub, world)
    await world.ask()
    world.later(seconds=2)
    await hub.keeper.look()
    assert len(world.box.shown) == 1
    await world.answer("a_1")
    other = world.hub()
    await other.settings.refresh()
    await other.keeper.look()
    assert world.box.shown == {}


async def test_steps_that_were_due_while_no_hub_was_there_are_sent_by_the_next(world: ReachedWorld) -> None:
    hub = world.hub()
    await chained(hub, world)
    await world.ask()
    world.later(days=1)
    other = world.hub()
    await other.settings.refresh()
    await other.keeper.look()
    assert sorted(world.box.names()) == ["ben's", "phone", "slack"]


@pytest.mark.parametrize("kind", ["alone", "together"])
async def test_killed_between_any_two_steps_nothing_is_skipped_and_nothing_shown_twice(
    world: ReachedWorld, kind: str
) -> None:
    """Only a kill between sending and storing repeats a message, with the ID that it had."""
    first = world.hub()
    await chained(first, world)
    moment = 0
    while True:
        moment += 1
        world.box.arrived.clear()
        world.box.shown.clear()
        name = f"a_{kind}_{moment}"
        session = f"s_{moment}"
        await world.ask(name, session=session)
        if kind == "together":
            await world.ask(f"{name}_too", session=session)
        fate = Deadly(moment)
        await _live(world, fate)
        was_killed = fate.killed.is_set()
        await _live(world, Deadly())

        ids = [(channel, message.id) for channel, message in world.box.arrived]
        assert sorted({channel for channel, _ in ids}) == ["ben's", "phone", "slack"], moment
        assert len(set(ids)) == 3, moment
        assert len(ids) <= 4, moment
        assert len(world.box.shown) == 3, moment
        after = await first.log_of(name)
        assert sorted(each.state for each in after.entries) == ["sent", "sent", "sent"]
        for each in (name, f"{name}_too"):
            await world.answer(each)
        await _live(world, Deadly())
        assert world.box.shown == {}
        if not was_killed:
            break
    assert moment > 12


async def _live(world: ReachedWorld, fate: Deadly) -> None:
    """A hub that looks at the time of each step, until it is done or killed."""
    hub = world.hub(fate)
    await hub.settings.refresh()
    looking = asyncio.create_task(_look(world, hub))
    killed = asyncio.create_task(fate.killed.wait())
    await asyncio.wait([looking, killed], return_when=asyncio.FIRST_COMPLETED)
    for task in (looking, killed):
        task.cancel()
    await asyncio.gather(looking, killed, return_exceptions=True)
    await hub.keeper.stop()


async def _look(world: ReachedWorld, hub: Notifications) -> None:
    for seconds in (2, 60, 3600):
        world.later(seconds=seconds)
        await hub.keeper.look()
