"""The rules among a project's options: where they apply, and what comes before and after them."""

import pytest
from msgspec.structs import replace

from handraise.inbox.errors import RuleUnreadable
from handraise.inbox.inbox import check_readable
from handraise.model.actors import ByRule
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Answered
from handraise.model.projects import Options, Project
from handraise.model.rules import Decision, ProjectRule, Rule
from handraise.store.changes import SaveProject
from handraise.store.interface import Store
from inbox.waiting_room import Room, an_ask, bash, room

NPM = ProjectRule("deny", command="npm *", message="Use pnpm here.")
TEST = ProjectRule("allow", command="npm test")


def shop(*rules: ProjectRule, identity: str = "p_1", name: str = "shop", path: str = "/work/app") -> Project:
    return Project(identity, name, path, Options(rules=rules))


async def save(here: Room, *projects: Project) -> None:
    await here.store.apply([SaveProject(each) for each in projects])
    await here.inbox.read_rules()


async def test_the_first_that_matches_decides_and_is_named_by_its_place(store: Store) -> None:
    async with room(store) as here:
        await save(here, shop(TEST, NPM))
        test = await here.open(an_ask(bash("npm test"), "a_1"))
        publish = await here.open(an_ask(bash("npm publish"), "a_2"))

        assert isinstance(test.settlement, Answered)
        assert test.settlement.answer == Allow()
        assert isinstance(publish.settlement, Answered)
        assert publish.settlement.answer == Deny("Use pnpm here.")
        assert publish.why == "Rule project shop#2 denies `npm publish`."
        assert publish.settlement.by == ByRule("project shop#2", publish.why)


async def test_they_hold_in_their_project_and_nowhere_else(memory: Store) -> None:
    async with room(memory) as here:
        await save(here, shop(identity="p_1"), shop(TEST, identity="p_2", name="other", path="/work/other"))

        assert (await here.open(an_ask(identity="a_1"))).state == "open"
        assert (await here.open(replace(an_ask(identity="a_2"), project="p_2"))).state == "answered"


@pytest.mark.parametrize(
    ("of_project", "of_settings", "state"),
    [("allow", "deny", Allow), ("deny", "allow", Deny), ("ask", "allow", None), ("ask", "deny", None)],
)
async def test_a_projects_own_come_before_those_of_the_settings(
    memory: Store, of_project: Decision, of_settings: Decision, state: type[Allow | Deny] | None
) -> None:
    async with room(memory, settings=[Rule("r_1", of_settings, command="npm *")]) as here:
        await save(here, shop(ProjectRule(of_project, command="npm test")))
        settlement = (await here.open(an_ask())).settlement

        assert (type(settlement.answer) if isinstance(settlement, Answered) else None) == state


async def test_projects_then_settings_then_people(store: Store) -> None:
    async with room(store, settings=[Rule("r_settings", "ask", tool="Bash")]) as here:
        await here.inbox.save_rule(Rule("r_person", "allow", tool="Bash"))
        await save(here, shop(TEST))

        assert [rule.id for rule in here.inbox.rules] == ["project shop#1", "r_settings", "r_person"]


async def test_they_hold_after_a_restart_and_no_longer_when_they_are_taken_away(store: Store) -> None:
    async with room(store) as here:
        await save(here, shop(TEST))
    async with room(store) as later:
        assert (await later.open(an_ask(identity="a_1"))).state == "answered"
        await save(later, shop())
        assert (await later.open(an_ask(identity="a_2"))).state == "open"


@pytest.mark.parametrize("named", ["p_1", "shop", "/work/app"])
async def test_a_rule_may_name_a_project_by_id_name_or_path(memory: Store, named: str) -> None:
    async with room(memory, settings=[Rule("r_1", "deny", command="npm *", project=named)]) as here:
        await save(here, shop())

        assert (await here.open(an_ask())).state == "answered"
        assert (await here.open(replace(an_ask(identity="a_2"), project="p_2"))).state == "open"


async def test_a_project_that_is_called_as_another_ones_id_takes_nothing_from_it(memory: Store) -> None:
    async with room(memory, settings=[Rule("r_1", "deny", command="npm *", project="p_1")]) as here:
        await save(here, shop(), shop(identity="p_2", name="p_1", path="/work/other"))

        assert (await here.open(an_ask())).state == "answered"


def test_a_command_that_nobody_can_read_is_no_rule() -> None:
    with pytest.raises(RuleUnreadable, match=r"unclosed quote\): npm 'run"):
        check_readable([Rule("r_1", "deny", command="npm 'run")])
