"""Standing answers: what a rule decides, what "for longer" stores, and that both are recorded."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from handraise.inbox.errors import AlreadySettled
from handraise.model.actors import ByRule
from handraise.model.answers import Allow, Deny, Misfit
from handraise.model.asks import Answered, Permission
from handraise.model.items import AskOpened, AskSettled
from handraise.model.rules import Rule
from handraise.store.changes import SettleAsk
from handraise.store.interface import Store
from inbox.waiting_room import ANA, BEN, NOON, PLAN, QUESTION, an_ask, bash, room

ALLOW_NPM = Rule("r_1", "allow", tool="Bash", command="npm test")
DENY_NPM = Rule("r_2", "deny", tool="Bash", command="npm *", message="Use pnpm here.")
ASK_NPM = Rule("r_3", "ask", tool="Bash", command="npm *")
EVERYTHING = Rule("r_4", "allow", tool="*")


async def test_a_rule_that_allows_answers_at_once_and_is_on_record(store: Store) -> None:
    async with room(store, settings=[ALLOW_NPM]) as here:
        ask = await here.open(an_ask())

        assert isinstance(ask.settlement, Answered)
        assert ask.settlement.answer == Allow()
        assert ask.settlement.by == ByRule("r_1", ask.why)
        assert ask.settlement.source == "rule"
        assert "r_1" in ask.why
        assert [type(each) for each in await here.contents()] == [AskOpened, AskSettled]


async def test_a_rule_that_denies_says_why(memory: Store) -> None:  # lesson 42
    async with room(memory, settings=[DENY_NPM, replace(DENY_NPM, id="r_9", command="git *", message="")]) as here:
        npm = await here.open(an_ask(identity="a_1"))
        git = await here.open(an_ask(bash("git push"), identity="a_2"))

        assert isinstance(npm.settlement, Answered)
        assert npm.settlement.answer == Deny("Use pnpm here.")
        assert isinstance(git.settlement, Answered)
        assert isinstance(git.settlement.answer, Deny)
        assert git.settlement.answer.message


async def test_a_rule_that_wants_a_person_leaves_the_ask_open_and_says_so(memory: Store) -> None:
    async with room(memory, settings=[ASK_NPM, EVERYTHING]) as here:
        ask = await here.open(an_ask())

        assert ask.state == "open"
        assert "r_3" in ask.why


async def test_why_an_ask_reached_a_person_is_on_record(memory: Store) -> None:
    async with room(memory) as here:
        assert "No rule allows" in (await here.open(an_ask())).why
        assert "Only a person" in (await here.open(an_ask(QUESTION, "a_2"))).why


@pytest.mark.parametrize("body", [QUESTION, PLAN, Permission("AskUserQuestion", {}), Permission("ExitPlanMode", {})])
async def test_questions_and_plans_are_never_answered_by_a_rule(memory: Store, body: Permission) -> None:
    async with room(memory, settings=[EVERYTHING]) as here:
        assert (await here.open(an_ask(body))).state == "open"


async def test_rules_of_the_settings_come_before_those_of_people(store: Store) -> None:
    async with room(store, settings=[ASK_NPM]) as here:
        await here.inbox.save_rule(ALLOW_NPM)

        assert [rule.id for rule in here.inbox.rules] == ["r_3", "r_1"]
        assert (await here.open(an_ask())).state == "open"


async def test_a_rule_whose_time_has_passed_decides_nothing(memory: Store) -> None:
    async with room(memory, settings=[replace(ALLOW_NPM, expires_at=NOON + timedelta(hours=1))]) as here:
        assert (await here.open(an_ask(identity="a_1"))).state == "answered"
        here.clock.forward(3600)
        assert (await here.open(an_ask(identity="a_2"))).state == "open"


@pytest.mark.parametrize("scope", ["session", "always"])
async def test_an_answer_for_longer_keeps_exactly_the_rules_that_were_offered(store: Store, scope: str) -> None:
    async with room(store) as here:
        ask = await here.open(an_ask(bash("npm test && npm run lint")))
        assert isinstance(ask.body, Permission)
        (offer,) = [offer for offer in ask.body.offers if offer.lasting == scope]
        assert offer.scope

        await here.inbox.answer("a_1", Allow(offer.lasting), ANA, "web")

        record = await store.rules()
        assert [replace(rule, id="", made_by="", made_at=None) for rule in record] == list(offer.rules)
        assert {(rule.made_by, rule.made_at, rule.source) for rule in record} == {("ana", NOON, "person")}
        assert len({rule.id for rule in record}) == len(record)
        assert (await here.open(an_ask(bash("npm test"), "a_2"))).state == "answered"


async def test_a_rule_for_this_session_says_nothing_to_another(memory: Store) -> None:
    async with room(memory) as here:
        await here.open(an_ask())
        await here.inbox.answer("a_1", Allow("session"), ANA, "web")

        assert (await here.open(an_ask(identity="a_2"))).state == "answered"
        assert (await here.open(an_ask(identity="a_3", session="s_2"))).state == "open"


async def test_allowing_once_keeps_no_rule(memory: Store) -> None:
    async with room(memory) as here:
        await here.open(an_ask())
        await here.inbox.answer("a_1", Allow(), ANA, "web")

        assert await memory.rules() == []


async def test_a_revoked_rule_no_longer_answers(store: Store) -> None:
    async with room(store) as here:
        await here.open(an_ask())
        await here.inbox.answer("a_1", Allow("always"), ANA, "web")
        (rule,) = here.inbox.rules

        assert await here.inbox.remove_rule(rule.id)
        assert not await here.inbox.remove_rule(rule.id)
        assert here.inbox.rules == ()
        assert (await here.open(an_ask(identity="a_2"))).state == "open"


async def test_rules_that_people_granted_hold_after_a_restart(store: Store) -> None:
    async with room(store) as here:
        await here.open(an_ask())
        await here.inbox.answer("a_1", Allow("always"), ANA, "web")

    async with room(store) as later:
        assert (await later.open(an_ask(identity="a_2"))).state == "answered"


async def test_an_answer_that_lost_grants_nothing(store: Store) -> None:
    async with room(store) as here:
        ask = await here.open(an_ask())
        await here.inbox.answer("a_1", Deny("no"), BEN, "telegram")

        with pytest.raises(AlreadySettled):
            await here.inbox.answer("a_1", Allow("always"), ANA, "web")
        # And an answer that was on its way to the store when someone else was first:
        late = SettleAsk("a_1", Answered(Allow("always"), ANA, "web", NOON), (ALLOW_NPM,))
        applied = await store.apply([late])
        assert applied.took == (False,)
        assert await store.rules() == []
        assert ask.id == "a_1"


async def test_a_scope_that_was_not_offered_cannot_be_granted(memory: Store) -> None:  # lesson 10
    async with room(memory) as here:
        ask = await here.open(an_ask(bash("sudo rm -rf /")))
        assert isinstance(ask.body, Permission)
        assert ask.body.offers == ()

        with pytest.raises(Misfit, match="can only be allowed once"):
            await here.inbox.answer("a_1", Allow("always"), ANA, "web")
        assert await memory.rules() == []


async def test_claudes_own_suggestions_are_offered_in_words(memory: Store) -> None:
    suggestion = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    async with room(memory) as here:
        ask = await here.open(an_ask(bash(suggestions=(suggestion,))))

        assert isinstance(ask.body, Permission)
        assert ask.body.suggestions == (suggestion,)
        assert "acceptEdits" in ask.body.suggestions_in_words[0]
        with pytest.raises(Misfit, match="no suggestion with that number"):
            await here.inbox.answer("a_1", Allow(suggestions=(1,)), ANA, "web")


async def test_an_edit_is_shown_against_the_file_as_it_is_now(memory: Store) -> None:
    write = Permission("Write", {"file_path": "/work/app/a.txt", "content": "two\n"})
    async with room(memory) as here:
        ask = await here.open(an_ask(write), files={"/work/app/a.txt": "one\n"})

        assert isinstance(ask.body, Permission)
        assert ask.body.diff is not None
        assert "-one" in ask.body.diff
        assert "+two" in ask.body.diff


@pytest.mark.parametrize("path", ["\0", "/work/a\0b", "~nobody/x", "", 7, None, ["x"]])
async def test_a_path_that_is_none_is_put_to_a_person(memory: Store, path: object) -> None:
    async with room(memory, settings=[]) as here:
        ask = await here.open(an_ask(Permission("Write", {"file_path": path, "content": "x"})))

        assert ask.state == "open"
