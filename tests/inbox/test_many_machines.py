"""Several inboxes over one database: whose deadline it is, and where a rule applies."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from msgspec.structs import replace

from handraise.model.answers import Allow, Deny
from handraise.model.asks import Answered, Ask, Expired
from handraise.model.machines import LEASE, Machine, Place
from handraise.model.projects import Patience, Project
from handraise.model.rules import Rule
from handraise.store.changes import SaveProject, SaveRule, SettleAsk
from handraise.store.memory.store import MemoryDatabase, MemoryStore
from inbox.waiting_room import ANA, BEN, NOON, Clock, Room, an_ask, bash, room

PATIENT = Patience(permission=60)


@asynccontextmanager
async def claimed(database: MemoryDatabase, machine: str, clock: Clock) -> AsyncIterator[Room]:
    """An inbox of a machine that is online from now on."""
    async with MemoryStore(machine, database) as store:
        await store.claim(Machine(machine, machine, "0.1.0", 8, clock(), clock()))
        async with room(store, clock) as here:
            yield here


async def test_an_ask_belongs_to_the_machine_that_opened_it() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        await one.open(an_ask())
        assert (await two.inbox.find("a_1")).machine == "m_1"


async def test_the_deadline_is_the_owner_s_while_it_is_online() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        await one.open(an_ask(), patience=PATIENT)
        clock.forward(61)

        await two.inbox.expire()
        assert (await two.inbox.find("a_1")).state == "open"
        await one.inbox.expire()
        assert (await two.inbox.find("a_1")).state == "expired"


async def test_any_hub_expires_an_ask_whose_machine_is_away_and_not_before_its_deadline() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_2", clock) as two, claimed(database, "m_3", clock) as three:
        async with claimed(database, "m_1", clock) as one:
            await one.open(an_ask(), patience=PATIENT)
            await one.store.release(clock())
        await two.inbox.expire()
        clock.forward(59)
        await two.inbox.expire()
        assert (await two.inbox.find("a_1")).state == "open"
        clock.forward(2)

        await two.inbox.expire()
        await three.inbox.expire()

        expired = await three.inbox.find("a_1")
        assert expired.settlement == Expired(clock())
        assert expired.delivered_at is None  # its own hub delivers that when it is back


async def test_a_machine_that_falls_silent_is_away_when_its_lease_has_run_out() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        await one.open(an_ask(), patience=PATIENT)
        clock.forward(61)
        await two.inbox.expire()
        await two.store.beat(clock())  # m_1 was not seen for a minute
        clock.forward(LEASE.total_seconds())

        await two.inbox.expire()

        assert (await two.inbox.find("a_1")).state == "expired"


@pytest.mark.parametrize("minutes", [-30, 30])
async def test_a_clock_that_is_wrong_elsewhere_does_not_move_a_deadline(minutes: float) -> None:
    database, clock, wrong = MemoryDatabase(), Clock(), Clock()
    wrong.forward(60 * minutes)
    async with claimed(database, "m_2", clock) as two:
        async with MemoryStore("m_1", database) as store, room(store, wrong) as one:
            await one.open(replace(an_ask(), opened_at=wrong()), patience=PATIENT)
        clock.forward(59)
        await two.inbox.expire()
        assert (await two.inbox.find("a_1")).state == "open"
        clock.forward(2)
        await two.inbox.expire()
        assert (await two.inbox.find("a_1")).state == "expired"


async def test_an_answer_and_an_expiry_at_the_same_moment_settle_it_once() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        await one.open(an_ask(), patience=PATIENT)
        clock.forward(61)
        answered = await two.inbox.answer("a_1", Allow(), BEN, "web")
        await one.inbox.expire()

        assert (await one.inbox.find("a_1")) == answered.ask
        assert [ask.state for ask in one.settled] == ["answered"]


async def test_rules_that_are_made_elsewhere_apply_here() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        await one.inbox.save_rule(Rule("r_1", "allow", tool="Bash", command="npm test"))
        settled = await two.open(await _until_ruled(two, "r_1"))
        assert settled.state == "answered"

        await one.inbox.remove_rule("r_1")
        await _until(lambda: not two.inbox.rules)
        assert (await two.open(an_ask(identity="a_2"))).state == "open"


async def test_what_is_always_allowed_in_a_bare_directory_is_allowed_on_that_machine_only() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        in_directory = replace(an_ask(bash("npm test")), project="/work/app")
        await one.open(in_directory)
        await two.inbox.answer("a_1", Allow("always"), ANA, "web")

        (rule,) = await two.store.rules()
        assert (rule.project, rule.machine) == ("/work/app", "m_1")
        again = replace(in_directory, id="a_2", origin=replace(in_directory.origin, reference="again"))
        assert (await two.open(again)).state == "open"
        more = replace(in_directory, id="a_3", origin=replace(in_directory.origin, reference="more"))
        assert (await one.open(more)).state == "answered"
        assert rule in two.inbox.rules  # people still see it


async def test_a_rule_about_a_file_outside_the_project_applies_on_its_machine_only() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        body = replace(bash(), tool="Write", input={"file_path": "/srv/data/x.txt", "content": "x"})
        await one.open(an_ask(body))
        await one.inbox.answer("a_1", Allow("always"), ANA, "web")

        (rule,) = await two.store.rules()
        assert (rule.path, rule.project, rule.machine) == ("/srv/data/x.txt", "p_1", "m_1")
        assert (await two.open(an_ask(body, "a_2"))).state == "open"
        assert (await one.open(an_ask(body, "a_3"))).state == "answered"


async def test_a_directory_s_rule_never_means_the_project_that_has_this_directory_elsewhere() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        await one.store.apply([SaveProject(Project("p_1", "app", "/work/app"))])
        await two.inbox.read_rules()
        await two.store.apply([SaveRule(Rule("r_1", "allow", tool="Bash", project="/work/app", machine="m_2"))])
        await one.inbox.read_rules()

        assert (await one.open(an_ask())).state == "open"
        (rule,) = [each for each in one.inbox.rules if each.id == "r_1"]
        assert rule.project == "/work/app"


async def test_a_project_without_a_directory_here_does_not_take_over_rules_for_everywhere() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one:
        await one.store.apply([SaveProject(Project("p_9", "away", "", elsewhere=(Place("m_2", "/work/away"),)))])
        await one.inbox.save_rule(Rule("r_1", "deny", tool="Bash", message="No."))

        denied = await one.open(an_ask())

        assert isinstance(denied.settlement, Answered)
        assert denied.settlement.answer == Deny("No.")


async def test_what_an_answer_grants_elsewhere_applies_here() -> None:
    database, clock = MemoryDatabase(), Clock()
    async with claimed(database, "m_1", clock) as one, claimed(database, "m_2", clock) as two:
        await one.open(an_ask(), patience=PATIENT)
        settlement = Answered(Allow(), ANA, "web", NOON + timedelta(seconds=1))
        granted = (Rule("r_7", "allow", tool="Bash", command="npm test", project="p_1"),)
        await one.store.apply([SettleAsk("a_1", settlement, granted)])
        await _until_ruled(two, "r_7")
        assert (await two.open(an_ask(identity="a_2"))).state == "answered"


async def _until_ruled(here: Room, rule: str) -> Ask:
    await _until(lambda: any(each.id == rule for each in here.inbox.rules))
    return an_ask()


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0)
