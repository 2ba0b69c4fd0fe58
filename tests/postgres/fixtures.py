"""A PostgreSQL server for each worker, and a fresh database for each test that wants one."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from handraise.store.postgres.store import PostgresStore
from postgres.cluster import HOW_TO_INSTALL, PASSWORD, ROLE, SECRETIVE, Cluster, fast_folder, programs

READY = "handraise_ready"
"""A database whose schema is up to date, to copy from."""
TEMPLATE = "TESTS_CLUSTER_TEMPLATE"
"""Names the folder of the cluster that all others of a run are copied from."""


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
    return Cluster(found, inside=inside, template=_template(found), **settings)


def _template(found: Path) -> Path:
    """The data of a new cluster. The first worker that needs one makes it: initdb takes a second."""
    folder = Path(os.environ[TEMPLATE])
    data = folder / "data"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not data.exists():
            _make(found, folder).rename(data)
    return data


def _make(found: Path, folder: Path) -> Path:
    running = Cluster(found, inside=folder)
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
    # Only what was stopped in an orderly way can be copied.
    running.stop()
    return running.data


def pytest_configure(config: pytest.Config) -> None:
    """The process that starts the workers makes the folder that they share."""
    if TEMPLATE not in os.environ:
        os.environ[TEMPLATE] = mkdtemp(prefix="handraise-pg-", dir=fast_folder())
        os.chmod(os.environ[TEMPLATE], 0o755)
        config.add_cleanup(_remove)


def _remove() -> None:
    shutil.rmtree(os.environ.pop(TEMPLATE), ignore_errors=True)
