"""A PostgreSQL server for each worker, and a fresh database for each test that wants one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handraise.store.postgres.store import PostgresStore
from postgres.cluster import HOW_TO_INSTALL, PASSWORD, ROLE, SECRETIVE, Cluster, programs

READY = "handraise_ready"
"""A database whose schema is up to date, to copy from."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Shared by the tests of a worker: nobody kills it."""
    with new_cluster() as running:
        yield running


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """For tests that kill or freeze it."""
    with new_cluster() as running:
        yield running


@pytest.fixture
def database(cluster: Cluster) -> Iterator[str]:
    """The URL of an empty database with our schema. It is used again, emptied."""
    name = cluster.spare.pop() if cluster.spare else cluster.create(READY)
    yield cluster.url(name)
    cluster.clear(name)
    cluster.spare.append(name)


@pytest.fixture
def empty_database(cluster: Cluster) -> str:
    """The URL of a fresh database with nothing in it."""
    return cluster.url(cluster.create())


@pytest.fixture
def opened(database: str) -> Callable[..., PostgresStore]:
    """Stores of the given machines over one fresh database, to be entered."""
    return lambda machine="m_here": PostgresStore(database, machine)


def new_cluster(*, inside: Path | None = None, **settings: str) -> Cluster:
    """With our role, and a database to copy from; skips the test where there is no PostgreSQL."""
    found = programs()
    if found is None:
        pytest.skip(HOW_TO_INSTALL)
    running = Cluster(found, inside=inside, **settings)
    try:
        running.run(
            f"CREATE ROLE {ROLE} LOGIN",
            f"CREATE ROLE {SECRETIVE} LOGIN PASSWORD '{PASSWORD}'",
            f"CREATE DATABASE {READY} OWNER {ROLE}",
        )
        running.prepare(READY)
    except BaseException:
        running.__exit__()
        raise
    return running
