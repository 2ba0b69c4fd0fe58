"""The databases that several hubs share in tests."""

import pytest


@pytest.fixture(params=["memory", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    """Of a PostgreSQL database; None for one in memory."""
    return None if request.param == "memory" else str(request.getfixturevalue("database"))
