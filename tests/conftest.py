"""What every test has."""

import os

import pytest
from hypothesis import settings

pytest_plugins = ["limits"]

# A busy machine is no bug. `make torture` looks at a hundred times as many examples.
settings.register_profile("ours", deadline=None, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=4000)
settings.load_profile(os.environ.get("HANDRAISE_EXAMPLES", "ours"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
