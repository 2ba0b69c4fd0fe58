"""The suites that every surface passes: each kind of ask, each loss of the race, each state. Written once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext

import pytest
from msgspec.structs import replace

from handraise.desk.interface import Conflict
from handraise.hub.hub import now
from handraise.model.actors import ByRule, Person
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny
from handraise.model.asks import (
    AcceptedAnswer,
    Answered,
    Ask,
    Body,
    Expired,
    Permission,
    Prompt,
    Question,
    Settlement,
    Terms,
    Withdrawn,
)
from handraise.present.cards import card_of
from handraise.present.headlines import headline, without_marks
from handraise.present.outcomes import outcome
from handraise.present.terms import terms_in_words
from surfaces.suite.cases import CASES, DATABASE, LINK, NPM, PLAN, POSTGRES, SQLITE, TRUST, AnswerCase, Gesture
from surfaces.suite.surface import Surface
from surfaces.suite.surface_hub import BEN, DEADLINE, answered_in

ELSEWHERE = "script"
"""Where ben answers from: no surface of ours."""
WHICH = Question((DATABASE,))
LINT = Permission("Bash", {"command": "npm run lint"}, offers=NPM.offers)
ALLOW, DENY = Gesture("once"), Gesture("deny")
GRANTING: tuple[tuple[Body, Gesture], ...] = (
    (NPM, ALLOW),
    (NPM, Gesture("always")),
    (PLAN, Gesture("approve")),
    (PLAN, Gesture("free")),
    (LINK, Gesture("done")),
    (TRUST, Gesture("exactly")),
)
NAME, USE = (Question((Prompt(*words),)) for words in (("What is it called?", "Name"), ("What is it for?", "Use")))
SHOP = Gesture("free text", picks=(Choice(text="Shop"),))
REPLACED: tuple[tuple[Body, Gesture, Body, Gesture], ...] = ((NPM, ALLOW, LINT, DENY), (NAME, SHOP, USE, SHOP))
"""What is shown and done, what it was replaced with, and what is done then."""
STRICT = (
    Terms(person=True, once=True),
    Terms(once=True),
    Terms(deny_first=True),
    Terms(once=True, ask_rule="Bash(npm test)"),
)
STATES: dict[str, tuple[Settlement, str]] = {
    "answered by a person": (
        Answered(Deny("Not today."), BEN, ELSEWHERE, now()),
        f"ben denied npm test: “Not today.” · {ELSEWHERE}",
    ),
    "answered by a rule": (Answered(Allow(), ByRule("r_1", "npm"), "rule", now()), "A rule allowed npm test"),
    "expired": (Expired(now()), "No one answered in time"),
    "withdrawn": (Withdrawn("the turn was interrupted", now()), "No longer needed: the turn was interrupted"),
}


async def nothing_offered(surface: Surface, ask: Ask) -> None:
    """What was already on its way when the ask was settled may be there for a moment."""
    async with asyncio.timeout(DEADLINE):
        while await surface.offered(ask) != ():
            await asyncio.sleep(0.02)


class SurfaceSuite:
    """Whatever a test left behind goes: the next one finds the surface with nothing to answer."""

    @pytest.fixture(autouse=True)
    async def _clear(self, surface: Surface) -> AsyncIterator[None]:
        yield
        surface.about_to_send, surface.presses = bool, 1
        await surface.hub.clear()
        await surface.clear()


class AnswerSuite(SurfaceSuite):
    """Each kind of ask, answered in each way. Subclassed for each surface, in a module with a `surface`."""

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    async def test_it_is_shown_and_the_answer_is_exactly_the_one_that_was_given(
        self, surface: Surface, case: AnswerCase
    ) -> None:
        ask = await surface.hub.open(case.body)
        card = await surface.shown(ask)
        assert case.headline in card.text
        if surface.shows_all or (case.name not in surface.absent and decides_by_sight(ask, case.gesture)):
            assert [each for each in case.shows if each not in card.text] == []
        if surface.shows_all:
            assert [each for each in case.claims if each not in card.text] == []
        assert [each for each in labels_on(surface, ask) if each not in card.labels] == []
        if case.name in surface.absent:
            assert set(labels_of(ask, case.gesture.act)).isdisjoint(card.labels), "it is offered: not absent any more"
            return
        if case.name in surface.differs:
            return

        await surface.act(ask, case.gesture)

        found = await surface.hub.settled(ask)
        assert answer_of(found) == (case.answer, surface.person, surface.source)
        await surface.says(ask, surface.own_outcome(found))
        assert await surface.offered(ask) == ()

    @pytest.mark.parametrize("terms", STRICT, ids=["person", "once", "denying first", "ask rule"])
    async def test_what_claude_code_keeps_for_a_person_never_lasts_and_denying_comes_first_if_it_says_so(
        self, surface: Surface, terms: Terms
    ) -> None:
        ask = await surface.hub.open(replace(NPM, terms=terms), why=terms_in_words(terms))
        labels = (await surface.shown(ask)).labels
        lasting = [label for act in ("session", "always", "suggestion") for label in labels_of(replace_terms(ask), act)]
        assert lasting
        assert [each for each in labels if each in lasting] == []
        allowing = [at for at, each in enumerate(labels) if "Allow" in each]
        denying = [at for at, each in enumerate(labels) if "Deny" in each]
        assert denying
        # Not by one tap on a notification. Elsewhere the card was read, and says so.
        assert bool(allowing) == surface.shows_all
        if terms.deny_first and allowing:
            assert denying[0] < allowing[0]
        if surface.shows_all:
            await surface.says(ask, "can only be allowed once")


class RaceSuite(SurfaceSuite):
    """Each loss of the race."""

    async def test_answered_elsewhere_it_says_by_whom_and_offers_nothing(self, surface: Surface) -> None:
        for body, answer in ((NPM, Deny("Not today.")), (WHICH, POSTGRES), (PLAN, Approve())):
            ask = await surface.hub.open(body)
            await surface.shown(ask)
            found = (await surface.hub.answer(ask, answer, ELSEWHERE)).ask
            await surface.says(ask, theirs(found), ELSEWHERE)
            assert await surface.offered(ask) == ()

    @pytest.mark.parametrize(("gesture", "first"), [(ALLOW, Deny("Not today.")), (DENY, Allow())], ids=["grant", "no"])
    async def test_who_acts_too_late_changes_nothing_and_reads_who_was_first(
        self, surface: Surface, gesture: Gesture, first: Answer
    ) -> None:
        ask = await surface.hub.open(NPM)
        await surface.shown(ask)
        async with surface.unaware():
            await surface.hub.answer(ask, first, ELSEWHERE)
            await surface.act(ask, gesture)
            await surface.says(ask, "ben", ELSEWHERE)
        assert answer_of(await surface.hub.find(ask)) == (first, "ben", ELSEWHERE)
        assert await surface.offered(ask) == ()

    @pytest.mark.parametrize("number", [1, 2])
    async def test_at_the_same_moment_one_of_them_wins_and_the_surface_says_who(
        self, surface: Surface, number: int
    ) -> None:
        ask, theirs = await surface.hub.open(NPM), Deny(f"Round {number}.")
        await surface.shown(ask)
        rivals: list[asyncio.Task[AcceptedAnswer]] = []
        surface.about_to_send = lambda: rivals.append(asyncio.create_task(surface.hub.answer(ask, theirs, ELSEWHERE)))
        async with surface.unaware():
            await surface.act(ask, ALLOW)
            (result,) = await asyncio.gather(*rivals, return_exceptions=True)
            found = await surface.hub.settled(ask)
            if isinstance(result, Conflict):
                assert answer_of(found) == (Allow(), surface.person, surface.source)
                words = [surface.own_outcome(found)]
            else:
                assert answer_of(found) == (theirs, "ben", ELSEWHERE)
                words = ["ben", ELSEWHERE]
                await surface.says(ask, *words)
        await surface.says(ask, *words)
        assert await surface.offered(ask) == ()

    async def test_who_comes_after_it_reads_what_was_answered_here(self, surface: Surface) -> None:
        ask = await surface.hub.open(NPM)
        await surface.shown(ask)
        await surface.act(ask, ALLOW)
        found = await surface.hub.settled(ask)
        with pytest.raises(Conflict, match=f"by {surface.person} \\({surface.source}\\)"):
            await surface.hub.answer(ask, Deny(), ELSEWHERE)
        assert await surface.hub.find(ask) == found

    async def test_the_same_answer_from_two_sides_is_one_answer(self, surface: Surface) -> None:
        ask = await surface.hub.open(WHICH)
        await surface.shown(ask)
        async with surface.unaware():
            first = (await surface.hub.answer(ask, SQLITE, ELSEWHERE)).ask
            await surface.act(ask, Gesture("option", picks=SQLITE.answers))
            assert await surface.hub.find(ask) == first
        await surface.says(ask, "nswered: SQLite")
        assert await surface.offered(ask) == ()

    async def test_a_late_answer_is_sent_where_one_is_possible(self, surface: Surface) -> None:
        ask = await surface.hub.open(WHICH, patience=3600)
        await surface.shown(ask)
        async with nullcontext() if surface.answers_late else surface.unaware():
            await surface.hub.settle(ask, Expired(now()))
            if surface.answers_late:
                await surface.says(ask, "No one answered in time")
            await surface.act(ask, Gesture("option", picks=POSTGRES.answers))
            found = await surface.hub.settled(ask)
        assert isinstance(found.settlement, Expired)
        assert answer_of(found) == (POSTGRES, surface.person, surface.source)
        await surface.says(ask, "nswered: Postgres")
        assert await surface.offered(ask) == ()

    async def test_what_was_withdrawn_takes_no_answer_and_says_why(self, surface: Surface) -> None:
        ask = await surface.hub.open(NPM)
        await surface.shown(ask)
        async with surface.unaware():
            await surface.hub.settle(ask, Withdrawn("the turn was interrupted", now()))
            await surface.act(ask, ALLOW)
            await surface.says(ask, "o longer needed")
        assert (await surface.hub.find(ask)).state == "withdrawn"
        assert await surface.offered(ask) == ()

    async def test_the_same_act_twice_answers_once_and_nothing_behind_it(self, surface: Surface) -> None:
        ask, behind = await surface.hub.open(NPM), await surface.hub.open(LINT)
        await surface.shown(ask)
        surface.presses = 2
        await surface.act(ask, ALLOW)
        found = await surface.hub.settled(ask)
        assert answer_of(found) == (Allow(), surface.person, surface.source)
        await surface.says(ask, surface.own_outcome(found))
        await surface.shown(behind)
        assert await surface.hub.answers(ask) == 1
        assert (await surface.hub.find(behind)).state == "open"

    @pytest.mark.parametrize(("body", "gesture", "other", "after"), REPLACED, ids=["permission", "open question"])
    async def test_what_was_replaced_is_not_answered_by_an_act_for_what_was_there(
        self, surface: Surface, body: Body, gesture: Gesture, other: Body, after: Gesture
    ) -> None:
        if is_absent(surface, body, gesture):
            return
        ask = await surface.hub.open(body)
        await surface.shown(ask)
        async with surface.unaware():
            await surface.hub.replace(ask, other)
            await surface.act(ask, gesture)
            await surface.says(ask, "This request has changed. Review it again.")
        changed = await surface.hub.find(ask)
        assert (changed.state, changed.body) == ("open", other)
        if not surface.shows_again:
            assert await surface.offered(changed) == ()
            return
        await surface.says(changed, without_marks(headline(changed, "/work/app")))
        await surface.act(changed, after)
        answer = Choices(after.picks) if after.picks else Deny()
        assert answer_of(await surface.hub.settled(changed)) == (answer, surface.person, surface.source)


class StateSuite(SurfaceSuite):
    """Each state, a hub that restarts, a surface that was away; and nobody grants by accident."""

    @pytest.mark.parametrize("state", STATES)
    async def test_each_state_is_said_and_nothing_stale_is_offered(self, surface: Surface, state: str) -> None:
        settlement, words = STATES[state]
        ask = await surface.hub.open(NPM)
        assert (await surface.shown(ask)).labels
        found = await surface.hub.settle(ask, settlement)
        await surface.says(ask, *words.split(" · "))
        if isinstance(settlement, Expired):
            late = Answered(Allow(), BEN, ELSEWHERE, now())
            found = await surface.hub.answer_late(ask, late)
            if "late" in surface.follows:
                await surface.says(ask, "Answered late: ben allowed npm test")
        if isinstance(settlement, Answered):
            found = await surface.hub.deliver(ask)
            if "delivered" in surface.follows:
                await surface.says(ask, "delivered")
        assert found.settlement is not None
        assert await surface.offered(ask) == ()

    async def test_a_hub_that_restarts_leaves_the_card_as_it_was(self, surface: Surface) -> None:
        ask = await surface.hub.open(NPM, outlives=True)
        await surface.shown(ask)
        await surface.restart_hub()
        assert "Run npm test?" in (await surface.shown(ask)).text
        await surface.act(ask, DENY)
        found = await surface.hub.settled(ask)
        assert answer_of(found) == (Deny(), surface.person, surface.source)
        await surface.says(ask, surface.own_outcome(found))
        assert await surface.offered(ask) == ()

    async def test_what_happened_while_it_was_away_is_there_when_it_is_back(self, surface: Surface) -> None:
        known = await surface.hub.open(WHICH)
        await surface.shown(known)
        await surface.leave()
        fresh, over = await surface.hub.open(NPM), await surface.hub.open(PLAN)
        answered = (await surface.hub.answer(known, POSTGRES, ELSEWHERE)).ask
        await surface.hub.answer(over, Approve(), ELSEWHERE)
        await surface.come_back()
        assert "Run npm test?" in (await surface.shown(fresh)).text
        await surface.says(known, theirs(answered), ELSEWHERE)
        assert await surface.offered(known) == ()
        await nothing_offered(surface, over)
        await surface.act(fresh, ALLOW)
        assert answer_of(await surface.hub.settled(fresh)) == (Allow(), surface.person, surface.source)

    @pytest.mark.parametrize(("body", "gesture"), GRANTING, ids=[gesture.act for _, gesture in GRANTING])
    async def test_an_act_that_came_too_early_grants_nothing(
        self, surface: Surface, body: Body, gesture: Gesture
    ) -> None:
        if is_absent(surface, body, gesture):
            return
        ask = await surface.act_early(body, gesture)
        assert (await surface.hub.find(ask)).settlement is None
        await surface.act(ask, gesture)
        found = await surface.hub.settled(ask)
        assert answer_of(found)[1:] == (surface.person, surface.source)


def is_absent(surface: Surface, body: Body, gesture: Gesture) -> bool:
    """Whether it can't be answered like this here. The first test holds that it isn't offered."""
    return any(case.name in surface.absent for case in CASES if (case.body, case.gesture) == (body, gesture))


def replace_terms(ask: Ask) -> Ask:
    """The same without terms."""
    return replace(ask, body=NPM)


def labels_on(surface: Surface, ask: Ask) -> list[str]:
    """What can be pressed at first sight, by the tables of this surface."""
    offered = {case.gesture.act for case in CASES if case.body == ask.body and case.name not in surface.absent}
    return [label for act in offered - surface.folded for label in labels_of(ask, act)]


def labels_of(ask: Ask, act: str) -> list[str]:
    """What an act is called. A question without options is nothing but a text field."""
    if isinstance(ask.body, Question) and not any(prompt.options for prompt in ask.body.questions):
        return []
    return [without_marks(each.label) for each in card_of(ask, "/work/app").choices if each.act == act]


def decides_by_sight(ask: Ask, gesture: Gesture) -> bool:
    """Whether it does more than to refuse: then everything to decide by has to be in view."""
    return any(each.act == gesture.act and each.weight != "refuse" for each in card_of(ask, None).choices)


def answer_of(ask: Ask) -> tuple[Answer | None, str, str]:
    """What was answered, by whom and from where."""
    answered = answered_in(ask)
    if answered is None:
        return None, "", ""
    return answered.answer, answered.by.name if isinstance(answered.by, Person) else "", answered.source


def theirs(ask: Ask) -> str:
    """The outcome as it is worded for others."""
    found = outcome(ask, "/work/app")
    assert found is not None
    return without_marks(found.text)
