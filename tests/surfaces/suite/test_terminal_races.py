"""The terminal passes the suites of every surface: each loss of the race, each state."""

from collections.abc import AsyncIterator

import pytest

from surfaces.suite.scenarios import RaceSuite, StateSuite
from surfaces.suite.terminal import TerminalSurface, terminal_surface


@pytest.fixture(scope="module")
async def surface(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TerminalSurface]:
    async with terminal_surface(tmp_path_factory.mktemp("terminal")) as made:
        yield made


class TestTerminalRaces(RaceSuite, StateSuite):
    """With real keys."""
