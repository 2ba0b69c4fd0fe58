"""Telegram passes the suites of every surface."""

from collections.abc import AsyncIterator

import pytest

from surfaces.suite.scenarios import AnswerSuite, RaceSuite, StateSuite
from surfaces.suite.telegram import TelegramSurface, telegram_surface


@pytest.fixture(scope="module")
async def surface(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TelegramSurface]:
    async with telegram_surface(tmp_path_factory.mktemp("telegram")) as made:
        yield made


class TestTelegram(AnswerSuite, RaceSuite, StateSuite):
    """With a person's presses and replies."""
