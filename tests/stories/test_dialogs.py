"""Stories of a hub: a model refuses a message, and Claude Code itself asks whether another one should try."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from handraise.demo.pieces import Script, refuse, say
from handraise.demo.request import Conversation
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask, Question, Withdrawn, terms_of
from handraise.model.items import TurnEnded
from handraise.present.cards import card_of
from stories.house import House, next_ask
from stories.test_visiting_links import until_settled
from stories.timeline import Stay, only, texts, until_turn

STRICT = "claude-fable-5"


def answers_unless_strict(conversation: Conversation) -> Script:
    while True:
        if STRICT in conversation.request.model:
            conversation = yield [say("Partly"), refuse()]
        else:
            conversation = yield [say(f"{conversation.request.model} answers.")]


class Strict(House):
    """A house whose Claude asks before it goes on with another model."""

    def __init__(self, tmp: Path, **more: str) -> None:
        super().__init__(tmp, answers_unless_strict)
        self._more = more

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self._more}

    async def __aenter__(self) -> "Strict":
        await super().__aenter__()
        settings = self.tmp / "home" / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"switchModelsOnFlag": False}))
        return self


class RefusedTurn(Stay):
    """A session with the strict model for each story."""

    async def asked(self) -> Ask:
        self.leave()
        self._after = await self.desk.newest()
        self.go_on_with((await self.desk.start("Go.", str(self.home.work), model=STRICT)).session)
        ask = await self.next_ask()
        assert isinstance(ask.body, Question)
        return ask


@pytest.fixture(scope="module")
async def refused(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RefusedTurn]:
    async with Strict(tmp_path_factory.mktemp("house")) as home, home.open_hub() as hub:
        yield RefusedTurn(home, hub)


def labels(ask: Ask) -> tuple[str, ...]:
    assert isinstance(ask.body, Question)
    (prompt,) = ask.body.questions
    return tuple(option.label for option in prompt.options)


def picked(ask: Ask, number: int) -> Choices:
    return Choices((Choice((labels(ask)[number],)),))


async def test_a_refused_message_is_sent_to_another_model_if_a_person_says_so(refused: RefusedTurn) -> None:
    ask = await refused.asked()
    assert labels(ask) == ("Retry with claude-opus-4-8", "Edit the message", "Dismiss")
    assert card_of(ask, None).headline == (
        "claude-fable-5 declined to answer. Retry with claude-opus-4-8? (Category: cyber)"
    )
    assert terms_of(ask.body).person
    await refused.desk.answer(ask.id, picked(ask, 0), ask.digest)

    timeline = await refused.until_turn()
    assert texts(timeline)[-1] == "claude-opus-4-8 answers."
    assert not only(TurnEnded, timeline)[-1].is_error
    settled = await refused.desk.ask(ask.id)
    assert settled.delivered_at is not None
    outcome = card_of(settled, None).outcome
    assert outcome is not None
    assert outcome.text.endswith("answered: Retry with claude-opus-4-8")


@pytest.mark.parametrize(("number", "is_error"), [(1, False), (2, True)])
async def test_a_dialog_that_is_not_retried_ends_the_turn(refused: RefusedTurn, number: int, is_error: bool) -> None:
    ask = await refused.asked()
    await refused.desk.answer(ask.id, picked(ask, number), ask.digest)

    timeline = await refused.until_turn()
    assert not any("opus" in text for text in texts(timeline))
    assert only(TurnEnded, timeline)[-1].is_error is is_error


async def test_an_interrupt_withdraws_a_dialog(refused: RefusedTurn) -> None:
    ask = await refused.asked()
    await refused.desk.interrupt(refused.session.id)

    assert isinstance((await until_settled(refused.desk, ask)).settlement, Withdrawn)
    await refused.until_turn()


async def test_a_dialog_outlives_the_hub_that_showed_it(tmp_path: Path) -> None:
    async with Strict(tmp_path) as home:
        async with home.open_hub() as first:
            session = (await first.desk.start("Go.", str(home.work), model=STRICT)).session
            ask = await next_ask(first.desk, session)

        async with home.open_hub() as second:
            await second.desk.answer(ask.id, picked(ask, 0), ask.digest)
            timeline = await until_turn(second.desk, session)
            assert texts(timeline)[-1] == "claude-opus-4-8 answers."


async def test_a_dialog_that_claude_code_closes_by_itself_is_withdrawn(tmp_path: Path) -> None:
    soon = {"CLAUDE_CODE_USER_DIALOG_TIMEOUT_MS": "1500"}
    async with Strict(tmp_path, **soon) as home, home.open_hub() as hub:
        session = (await hub.desk.start("Go.", str(home.work), model=STRICT)).session
        ask = await next_ask(hub.desk, session)

        settlement = (await until_settled(hub.desk, ask)).settlement
        assert isinstance(settlement, Withdrawn)
        assert settlement.reason == "Claude Code closed the dialog"
        assert only(TurnEnded, await until_turn(hub.desk, session))[-1].is_error
