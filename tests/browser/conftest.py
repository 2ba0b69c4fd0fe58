"""One browser for all tests of a worker, and one hub for all tests of a file that share it."""

from collections.abc import AsyncIterator

import pytest

from browser.hands import HandsDesk, desk
from browser.shared import SharedPage, shared_page
from browser.window import PROGRAM, shared_browsers


@pytest.fixture(scope="session", autouse=True)
async def _browsers(anyio_backend: str) -> AsyncIterator[None]:
    if PROGRAM is None:
        yield
        return
    async with shared_browsers():
        yield


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HandsDesk]:
    async with desk(tmp_path_factory.mktemp("desk")) as made:
        yield made


@pytest.fixture
async def at(house: HandsDesk) -> AsyncIterator[HandsDesk]:
    yield house
    await house.clear_asks()
    assert house.screen.complaints == []


@pytest.fixture(scope="module")
async def _shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedPage]:
    async with shared_page(tmp_path_factory.mktemp("shared")) as made:
        yield made


@pytest.fixture
async def shared(_shared: SharedPage) -> AsyncIterator[SharedPage]:
    yield _shared
    await _shared.clear()
    assert _shared.screen.complaints == []
