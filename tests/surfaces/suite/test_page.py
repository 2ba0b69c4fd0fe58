"""The page passes the suites of every surface."""

from collections.abc import AsyncIterator

import pytest

from browser.window import needs_browser, shared_browsers
from surfaces.suite.page import PageSurface, page_surface
from surfaces.suite.scenarios import AnswerSuite, RaceSuite, StateSuite

pytestmark = needs_browser


@pytest.fixture(scope="module")
async def surface(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PageSurface]:
    async with shared_browsers(), page_surface(tmp_path_factory.mktemp("page")) as made:
        yield made


class TestPage(AnswerSuite, RaceSuite, StateSuite):
    """In a real browser."""
