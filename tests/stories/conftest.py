"""One Claude for all stories of a file: it plays the file's SCRIPT, part by part."""

from collections.abc import AsyncIterator

import pytest

from stories.bed import Bed, BedTalk


@pytest.fixture(scope="module")
async def bed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bed]:
    async with Bed(tmp_path_factory.mktemp("bed"), script=request.module.SCRIPT) as bed:
        yield bed


@pytest.fixture
async def talk(bed: Bed) -> BedTalk:
    return await bed.talk("script")
