"""What every test has."""

import pytest
from hypothesis import settings

# A busy machine is no bug.
settings.register_profile("ours", deadline=None)
settings.load_profile("ours")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
