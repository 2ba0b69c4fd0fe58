"""The demo, as a newcomer sees it."""

import asyncio
from pathlib import Path

from handraise.hub.desk import LocalDesk
from handraise.model.answers import Allow, Answer, Approve, Choice, Choices, Filled, Trusting
from handraise.model.asks import Ask, Form, Permission, Plan, Question
from handraise.model.items import Text
from handraise.model.trust import Trust
from handraise.serving.demo import SESSIONS, demonstration

DEADLINE = 120.0


def an_answer(ask: Ask) -> Answer:
    match ask.body:
        case Question(questions):
            return Choices(tuple(Choice((prompt.options[0].label,)) for prompt in questions))
        case Permission():
            return Allow()
        case Plan():
            return Approve("acceptEdits")
        case Form():
            return Filled("accept", {"version": "1.2.0", "stage": "staging"})
        case Trust():
            return Trusting("without")


async def answer_all(desk: LocalDesk) -> set[str]:
    """Answers whatever is open until both sessions rest; the kinds that came up."""
    kinds: set[str] = set()
    async with desk.follow(0) as follower:
        async for _ in follower:
            for ask in await desk.asks():
                kinds.add(ask.kind)
                await desk.answer(ask.id, an_answer(ask), ask.digest)
            seen = [each.session for each in await desk.sessions()]
            if all(session.phase == "idle" and session.cost_usd for session in seen):
                break
    return kinds


async def test_a_newcomer_meets_every_kind_of_ask_and_starts_a_session_of_their_own(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE), demonstration(tmp_path, 0) as served:
        assert await answer_all(served.hub.desk) == {"question", "permission", "plan", "form"}

        assert (tmp_path / "toy-service" / "test_health.py").exists()
        text = [item.read() for item in await served.hub.desk.items(after=0, limit=5000)]
        words = " ".join(content.text for content in text if isinstance(content, Text))
        assert "all tests pass" in words
        assert "Shipped 1.2.0 to staging" in words

        # A new session gets the list of scripts.
        desk = served.hub.desk
        own = (await desk.start("Hello?", str(tmp_path / "toy-service"))).session
        assert own.title not in SESSIONS
        async with desk.follow(0, own.id) as follower:
            async for news in follower:
                texts = [item.read() for item in news] if isinstance(news, list | tuple) else []
                if any(isinstance(each, Text) and "two demos" in each.text for each in texts):
                    return
        raise AssertionError("the feed ended")
