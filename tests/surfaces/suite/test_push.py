"""Web Push passes the suites of every surface."""

from collections.abc import AsyncIterator

import pytest

from browser.window import needs_browser, shared_browsers
from surfaces.suite.push import PushSurface, push_surface
from surfaces.suite.scenarios import AnswerSuite, RaceSuite, StateSuite

pytestmark = needs_browser


@pytest.fixture(scope="module")
async def surface(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PushSurface]:
    async with shared_browsers(), push_surface(tmp_path_factory.mktemp("push")) as made:
        yield made


class TestPush(AnswerSuite, RaceSuite, StateSuite):
    """With the real worker."""
