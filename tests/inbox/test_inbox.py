"""The inbox: every ask is settled once, in any order of events, and everyone is told the truth."""

import asyncio
from pathlib import Path

import pytest

from handraise.inbox.errors import AlreadySettled, AlreadyWithdrawn, NoSuchAsk, NotWhatWasShown
from handraise.inbox.inbox import Inbox
from handraise.model.actors import Person, TheHub
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Deny, Filled, Misfit, Outline, Revise
from handraise.model.asks import (
    AcceptedAnswer,
    Answered,
    Ask,
    Body,
    Dialog,
    Expired,
    Form,
    Option,
    Prompt,
    Question,
    Withdrawn,
)
from handraise.model.items import AskOpened, AskSettled, Said
from handraise.model.projects import Patience
from handraise.model.rules import Rule
from handraise.store.changes import OpenAsk, SettleAsk
from handraise.store.interface import Store
from handraise.store.sqlite.store import SqliteStore
from inbox.waiting_room import ANA, BEN, FORM, NOON, PLAN, QUESTION, Clock, an_ask, bash, room, surroundings

POSTGRES = Choices((Choice(("Postgres",)),))
SQLITE = Choices((Choice(("SQLite",)),))
TEN_SECONDS = Patience(10, 10, 10, 10)


async def test_the_first_answer_wins_and_the_asker_is_told(store: Store) -> None:
    async with room(store) as here:
        await here.open(an_ask(QUESTION))

        given = await here.inbox.answer("a_1", SQLITE, ANA, "web")

        assert given == AcceptedAnswer(here.settled[0])
        assert given.ask.settlement == Answered(SQLITE, ANA, "web", NOON)
        assert [type(each) for each in await here.contents()] == [AskOpened, AskSettled]


async def test_the_same_answer_again_succeeds_and_changes_nothing(store: Store) -> None:  # lesson 29
    async with room(store) as here:
        await here.open(an_ask(QUESTION))
        first = await here.inbox.answer("a_1", SQLITE, ANA, "web")

        assert await here.inbox.answer("a_1", SQLITE, BEN, "telegram") == first
        assert len(here.settled) == 1


async def test_a_different_answer_is_told_who_was_first_what_they_said_and_where(store: Store) -> None:  # lesson 30
    async with room(store) as here:
        await here.open(an_ask(QUESTION))
        await here.inbox.answer("a_1", SQLITE, ANA, "telegram")

        with pytest.raises(AlreadySettled, match=r"by ana \(telegram\): SQLite") as error:
            await here.inbox.answer("a_1", POSTGRES, BEN, "web")
        assert isinstance(error.value.ask.settlement, Answered)
        assert error.value.ask.settlement.answer == SQLITE


@pytest.mark.parametrize(
    ("body", "first", "second", "words"),
    [
        (bash(), Allow(), Deny(), "allowed (once)"),
        (bash(), Allow(input={"command": "ls"}), Deny(), "with edited input"),
        (bash(), Deny("too risky"), Allow(), "denied: too risky"),
        (bash(), Deny(), Allow(), "denied"),
        (PLAN, Approve("acceptEdits"), Revise(), "approved (mode acceptEdits)"),
        (PLAN, Revise("shorter"), Approve(), "sent back: shorter"),
        (PLAN, Outline(), Approve(), "an outline first"),
        (FORM, Filled("decline"), Filled("cancel"), "declined"),
        (QUESTION, Choices((Choice(text="DuckDB"),)), SQLITE, "DuckDB"),
    ],
)
async def test_what_was_said_first_is_told_in_words(
    memory: Store, body: Body, first: Answer, second: Answer, words: str
) -> None:
    async with room(memory) as here:
        await here.open(an_ask(body))
        await here.inbox.answer("a_1", first, ANA, "web")

        with pytest.raises(AlreadySettled) as error:
            await here.inbox.answer("a_1", second, BEN, "web")
        assert words in str(error.value)


async def test_of_a_thousand_answers_at_once_one_wins_and_all_others_are_told_the_truth(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "hub.db") as store, room(store) as here:
        await here.open(an_ask(QUESTION))
        answers = [SQLITE, POSTGRES] * 500
        outcomes = await asyncio.gather(
            *(here.inbox.answer("a_1", answer, Person(f"p_{number}"), "web") for number, answer in enumerate(answers)),
            return_exceptions=True,
        )

        record = await store.ask("a_1")
        assert record is not None
        assert isinstance(record.settlement, Answered)
        winner = record.settlement.by
        for answer, outcome in zip(answers, outcomes, strict=True):
            if answer == record.settlement.answer:
                assert outcome == AcceptedAnswer(record)
            else:
                assert isinstance(outcome, AlreadySettled)
                assert outcome.ask == record
        assert [ask.settlement for ask in here.settled] == [record.settlement]
        settled = [each for each in await here.contents() if isinstance(each, AskSettled)]
        assert [each.settlement["by"]["name"] for each in settled] == [winner.name]


async def test_an_ask_that_does_not_exist_is_told_so(memory: Store) -> None:  # lesson 28
    async with room(memory) as here:
        await here.open(an_ask())

        with pytest.raises(NoSuchAsk):
            await here.inbox.answer("a_2", Allow(), ANA, "web")
        assert here.settled == []


async def test_an_answer_to_something_else_than_what_was_shown_does_not_count(memory: Store) -> None:  # lesson 38
    async with room(memory) as here:
        ask = await here.open(an_ask(bash("rm -rf build")))

        with pytest.raises(NotWhatWasShown):
            await here.inbox.answer("a_1", Allow(), ANA, "web", digest=an_ask(bash("ls")).digest)
        assert (await here.inbox.answer("a_1", Allow(), ANA, "web", digest=ask.digest)).ask.state == "answered"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (QUESTION, Choices((Choice(),))),
        (QUESTION, Choices((Choice(text="  "),))),
        (QUESTION, Choices(())),
        (QUESTION, Allow()),
        (bash(), SQLITE),
        (bash(), Allow(input={})),
        (bash(), Allow("always", input={"command": "ls"})),
        (PLAN, Approve(plan=" ")),
        (FORM, Filled("accept")),
        (FORM, Filled("accept", {"street": ""})),
    ],
)
async def test_what_does_not_fit_is_refused_and_the_ask_stays_open(
    memory: Store, body: Body, answer: Answer
) -> None:  # lesson 36
    async with room(memory) as here:
        await here.open(an_ask(body))

        with pytest.raises(Misfit):
            await here.inbox.answer("a_1", answer, ANA, "web")
        record = await memory.ask("a_1")
        assert record is not None
        assert record.state == "open"


async def test_two_open_asks_are_settled_each_by_its_own_id(store: Store) -> None:  # lessons 26, 27, 34
    async with room(store) as here:
        await here.open(an_ask(QUESTION, "a_1"))
        await here.open(an_ask(QUESTION, "a_2"))

        await here.inbox.answer("a_2", POSTGRES, ANA, "web")

        assert [ask.id for ask in await store.asks(state="open")] == ["a_1"]
        await here.inbox.answer("a_1", SQLITE, ANA, "web")
        assert [ask.id for ask in here.settled] == ["a_2", "a_1"]


async def test_two_sessions_are_told_of_their_own_asks_only(memory: Store) -> None:  # lessons 8, 26
    async with room(memory) as here:
        others: list[Ask] = []
        await here.open(an_ask(QUESTION, "a_1", "s_1"))
        await here.open(an_ask(QUESTION, "a_2", "s_2"))

        with here.inbox.listening(others.append, "s_2"):
            await here.inbox.answer("a_2", SQLITE, ANA, "web")

        assert here.settled == []
        assert [ask.id for ask in others] == ["a_2"]


async def test_a_withdrawn_ask_takes_no_answer_and_says_why(store: Store) -> None:  # lesson 33
    async with room(store) as here:
        await here.open(an_ask())
        await here.inbox.withdraw("a_1", "the turn was interrupted")
        await here.inbox.withdraw("a_1", "again")

        with pytest.raises(AlreadyWithdrawn, match="the turn was interrupted"):
            await here.inbox.answer("a_1", Allow(), ANA, "web")
        assert [ask.settlement for ask in here.settled] == [Withdrawn("the turn was interrupted", NOON)]


async def test_patience_ends_by_itself_for_a_lone_ask(store: Store) -> None:  # lessons 3, 4
    async with room(store) as here:
        ask = await here.open(an_ask(), patience=TEN_SECONDS)
        assert ask.expires_at is not None
        assert (ask.expires_at - NOON).total_seconds() == 10

        here.clock.forward(9.9)
        await here.inbox.expire()
        assert here.settled == []
        here.clock.forward(0.1)
        await here.inbox.expire()
        assert [each.settlement for each in here.settled] == [Expired(here.clock.now)]


async def test_a_real_timer_ends_patience_without_anybody_asking(memory: Store) -> None:  # lesson 4
    async with room(memory) as here:
        expired = asyncio.Event()
        here.clock.forward(100)  # the deadline, reckoned from the ask's own clock, has passed by then

        with here.inbox.listening(lambda _: expired.set(), "s_1"):
            await here.open(an_ask(), patience=Patience(permission=0.01))
            here.clock.forward(1)

            async with asyncio.timeout(60):
                await expired.wait()


async def test_each_kind_has_its_own_patience_and_none_is_for_ever(memory: Store) -> None:  # lesson 41
    async with room(memory) as here:
        patience = Patience(question=10, permission=20, plan=None, form=30)
        bodies: list[Body] = [QUESTION, bash(), PLAN, FORM]
        asks = [await here.open(an_ask(body, f"a_{i}"), patience=patience) for i, body in enumerate(bodies)]

        seconds = [(ask.expires_at - NOON).total_seconds() if ask.expires_at else None for ask in asks]
        assert seconds == [10, 20, None, 30]
        here.clock.forward(1_000_000)
        await here.inbox.expire()
        assert [ask.kind for ask in await memory.asks(state="open")] == ["plan"]


async def test_patience_goes_on_running_while_the_hub_is_down(store: Store) -> None:  # lesson 4
    clock = Clock()
    async with room(store, clock) as here:
        await here.open(an_ask(), patience=TEN_SECONDS)
        await here.open(an_ask(QUESTION, "a_2"))
    clock.forward(11)

    async with room(store, clock) as later:
        await later.inbox.expire()

        assert [ask.id for ask in await store.asks(state="expired")] == ["a_1"]
        assert [ask.id for ask in await store.asks(state="open")] == ["a_2"]


async def test_an_answer_by_button_is_not_taken_back_by_the_deadline(store: Store) -> None:  # lesson 5
    async with room(store) as here:
        await here.open(an_ask(), patience=TEN_SECONDS)
        await here.inbox.answer("a_1", Allow(), ANA, "web")

        here.clock.forward(60)
        await here.inbox.expire()

        record = await store.ask("a_1")
        assert record is not None
        assert isinstance(record.settlement, Answered)
        assert len(here.settled) == 1


async def test_a_deadline_and_an_answer_at_once_leave_one_settlement(store: Store) -> None:  # lesson 5
    async with room(store) as here:
        for number in range(20):
            await here.open(an_ask(QUESTION, f"a_{number}"), patience=TEN_SECONDS)
            here.clock.forward(11)
            given, _ = await asyncio.gather(here.inbox.answer(f"a_{number}", SQLITE, ANA, "web"), here.inbox.expire())
            record = await store.ask(f"a_{number}")
            assert record is not None
            assert given.late is isinstance(record.settlement, Expired)


async def test_a_late_answer_is_recorded_once_and_said_as_guidance_once(store: Store) -> None:
    async with room(store) as here:
        await here.open(an_ask(QUESTION), patience=TEN_SECONDS)
        here.clock.forward(10)
        await here.inbox.expire()

        late = await here.inbox.answer("a_1", SQLITE, ANA, "web")

        assert late.late
        assert late.ask.settlement == Expired(here.clock.now, Answered(SQLITE, ANA, "web", here.clock.now))
        assert await here.inbox.answer("a_1", SQLITE, BEN, "telegram") == late
        with pytest.raises(AlreadySettled, match=r"by ana \(web\): SQLite"):
            await here.inbox.answer("a_1", POSTGRES, BEN, "telegram")
        (say,) = await store.says("s_1")
        assert isinstance(say.content, str)
        assert "late answer" in say.content
        assert "Which database? — SQLite" in say.content
        assert (say.by, say.source) == (ANA, "web")
        assert [type(each) for each in await here.contents()] == [AskOpened, AskSettled, AskSettled, Said]


async def test_an_expired_dialog_takes_no_late_answer(store: Store) -> None:
    dialog = Dialog("refusal_fallback_prompt", ("retry_fallback", "cancelled"))
    asked = Question(
        (Prompt("Which database?", "", (Option("SQLite"), Option("Postgres")), closed=True),), dialog=dialog
    )
    async with room(store) as here:
        await here.open(an_ask(asked), patience=TEN_SECONDS)
        here.clock.forward(10)
        await here.inbox.expire()

        with pytest.raises(AlreadySettled, match="closed"):
            await here.inbox.answer("a_1", SQLITE, ANA, "web")
        assert await store.says("s_1") == []


async def test_a_link_that_was_completed_by_itself_says_so_to_who_comes_later(store: Store) -> None:
    async with room(store) as here:
        await here.open(an_ask(Form("Sign in.", "post", {}, "https://example.com/")))
        done = Answered(Filled("accept"), TheHub(), "website", NOON)
        await store.apply([SettleAsk("a_1", done)])

        assert (await here.inbox.answer("a_1", Filled("accept"), ANA, "web")).ask.settlement == done
        with pytest.raises(AlreadySettled, match=r"Already completed on the website\."):
            await here.inbox.answer("a_1", Filled("decline"), ANA, "web")
        assert [ask.settlement for ask in here.settled] == [done]


async def test_of_many_late_answers_at_once_one_is_said(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "hub.db") as store, room(store) as here:
        await here.open(an_ask(QUESTION), patience=TEN_SECONDS)
        here.clock.forward(10)
        await here.inbox.expire()

        outcomes = await asyncio.gather(
            *(here.inbox.answer("a_1", answer, ANA, "web") for answer in [SQLITE, POSTGRES] * 20),
            return_exceptions=True,
        )

        (say,) = await store.says("s_1")
        record = await store.ask("a_1")
        assert record is not None
        assert isinstance(record.settlement, Expired)
        assert record.settlement.late is not None
        assert record.settlement.late.answer == (SQLITE if "SQLite" in str(say.content) else POSTGRES)
        assert sum(isinstance(each, AlreadySettled) for each in outcomes) == 20


async def test_a_late_yes_runs_nothing_by_itself(memory: Store) -> None:
    async with room(memory) as here:
        await here.open(an_ask(), patience=TEN_SECONDS)
        here.clock.forward(10)
        await here.inbox.expire()
        await here.inbox.answer("a_1", Allow(), ANA, "web")

        (say,) = await memory.says("s_1")
        assert "ask again" in str(say.content)
        assert await memory.rules() == []


async def test_a_late_answer_for_always_grants_nothing(memory: Store) -> None:
    async with room(memory) as here:
        await here.open(an_ask(), patience=TEN_SECONDS)
        here.clock.forward(10)
        await here.inbox.expire()
        await here.inbox.answer("a_1", Allow("always"), ANA, "web")

        assert await memory.rules() == []


async def test_an_agent_outside_that_went_away_gets_its_late_answer_recorded_and_nothing_said(memory: Store) -> None:
    async with room(memory) as here:
        await here.open(an_ask(QUESTION, session=None), patience=TEN_SECONDS)
        here.clock.forward(10)
        await here.inbox.expire()

        assert (await here.inbox.answer("a_1", SQLITE, ANA, "web")).late
        assert await memory.says("") == []


async def test_opening_the_same_ask_twice_is_opening_it_once(store: Store) -> None:  # lesson 32
    async with room(store) as here:
        first = await here.open(an_ask(QUESTION))
        await here.inbox.answer("a_1", SQLITE, ANA, "web")
        again = await here.open(an_ask(QUESTION))

        assert first.state == "open"
        assert again.state == "answered"
        assert await store.asks(state="open") == []


async def test_text_that_nobody_can_encode_is_mended_where_the_ask_enters(store: Store) -> None:  # lesson 16
    async with room(store) as here:
        ask = await here.open(an_ask(bash("echo \ud83d \udc00")))

        assert ask.digest == (await here.inbox.answer("a_1", Deny("\ud83d"), ANA, "web", ask.digest)).ask.digest
        considered = here.inbox.consider(an_ask(bash("echo \ud83d")), surroundings())
        assert considered.digest.startswith("sha256:")


async def test_somebody_elses_settlement_in_the_store_is_respected(store: Store) -> None:
    async with room(store) as here:
        await here.open(an_ask(QUESTION), patience=TEN_SECONDS)
        await store.apply([SettleAsk("a_1", Answered(POSTGRES, BEN, "telegram", NOON))])

        with pytest.raises(AlreadySettled, match=r"by ben \(telegram\)"):
            await here.inbox.answer("a_1", SQLITE, ANA, "web")
        here.clock.forward(60)
        await here.inbox.expire()
        assert [ask.settlement for ask in here.settled] == [Answered(POSTGRES, BEN, "telegram", NOON)]


@pytest.mark.parametrize("hours", [-5, 5])
async def test_patience_does_not_go_by_a_clock_that_is_set(store: Store, hours: int) -> None:
    clock, seconds = Clock(), [100.0]
    async with Inbox(store, clock, (), lambda: seconds[0]) as inbox:
        ask = await inbox.open(an_ask(), surroundings(TEN_SECONDS))

        clock.forward(hours * 3600)
        await inbox.expire()
        assert (await inbox.find(ask.id)).state == "open"

        seconds[0] += 10
        await inbox.expire()
        assert (await inbox.find(ask.id)).state == "expired"


async def test_an_ask_that_its_asker_stored_itself_expires_and_is_withdrawn_like_any_other(store: Store) -> None:
    async with room(store) as here:
        first, second = (
            here.inbox.consider(an_ask(QUESTION, identity), surroundings(TEN_SECONDS)) for identity in ("a_1", "a_2")
        )
        await store.apply([OpenAsk(first), OpenAsk(second)])

        await store.apply([SettleAsk("a_1", Withdrawn("the session was stopped", NOON))])
        here.clock.forward(10)
        await here.inbox.expire()

        assert [(ask.id, ask.state) for ask in here.settled] == [("a_1", "withdrawn"), ("a_2", "expired")]


async def test_what_an_answer_grants_holds_when_the_asker_hears_of_it(store: Store) -> None:
    async with room(store) as here:
        rules: list[tuple[Rule, ...]] = []
        await here.open(an_ask())

        with here.inbox.listening(lambda _: rules.append(here.inbox.rules)):
            await here.inbox.answer("a_1", Allow("always"), ANA, "web")

        assert rules == [tuple(await store.rules())]


async def test_a_listener_that_fails_keeps_no_answer_from_the_others(store: Store) -> None:
    def fail(_: Ask) -> None:
        raise LookupError

    async with room(store) as here:
        heard: list[Ask] = []
        await here.open(an_ask(QUESTION))

        with here.inbox.listening(fail), here.inbox.listening(heard.append):
            await here.inbox.answer("a_1", SQLITE, ANA, "web")

        assert [ask.id for ask in heard] == ["a_1"]
