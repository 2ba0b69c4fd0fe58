"""Assembles the parts of a hub, and shuts them down in order. One hub for each state folder."""

import fcntl
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field

from handraise.claude import sandbox_support
from handraise.claude.sandbox_support import SandboxSupport
from handraise.feed import Feed
from handraise.hub.desk import LocalDesk
from handraise.inbox.inbox import Inbox
from handraise.model.actors import Person
from handraise.model.projects import Options, OwnFile, no_own_file
from handraise.model.rules import Rule
from handraise.session.machine import SessionLimits
from handraise.session.pool import ClaudeConfig, SessionPool
from handraise.session.supervisor import Supervisor
from handraise.store.interface import Store
from handraise.store.sqlite.store import SqliteStore

DATABASE = "hub.db"


def now() -> datetime:
    """The wall clock: the only place that looks at it."""
    return datetime.now(UTC)


def elapsed() -> float:
    """Seconds since some moment. Also counts while the machine sleeps; setting the clock changes nothing."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


class HubRunning(Exception):
    """Another hub uses this state folder or this database."""


class StateExposed(Exception):
    """Other users can read a folder with the hub's data."""


class StateUnreachable(Exception):
    """A folder can't be created or used."""


class Hub(Struct, frozen=True):
    """A running hub."""

    desk: LocalDesk
    pool: SessionPool
    store: Store
    feed: Feed
    inbox: Inbox
    wall: SandboxSupport
    """Whether there can be a sandbox here."""


class HubConfig(Struct, frozen=True):
    """What a hub needs to know: the settings, and where it lives."""

    state: Path
    program: Path
    """Claude Code."""
    environment: Mapping[str, str]
    """Claude's environment variables."""
    clock: Callable[[], datetime] = now
    rules: Sequence[Rule] = ()
    options: Options = field(default_factory=Options)
    """What applies unless a project sets it."""
    limits: SessionLimits = field(default_factory=SessionLimits)
    limit: int = 8
    """How many sessions run at once."""
    own_file: Callable[[str], OwnFile] = no_own_file
    """Reads a directory's own settings file."""
    database: Path | None = None
    """The database, if it isn't in the state folder."""
    machine_name: str | None = None
    """What this machine is called at first; otherwise its host name."""
    store: Callable[[str], Store] | None = None
    """Opens the store of a machine, if it is none of those."""
    hidden: Sequence[Path] = ()
    """What no Claude ever sees, besides the state folder and the database."""
    writable: Sequence[str] = ()
    """Directories that every sandbox may write to."""

    def for_sessions(self, wall: SandboxSupport) -> ClaudeConfig:
        """The part that sessions use."""
        return ClaudeConfig(
            program=self.program,
            environment=self.environment,
            state=self.state,
            clock=self.clock,
            entropy=os.urandom,
            limits=self.limits,
            options=self.options,
            wall=wall,
            limit=self.limit,
            hidden=(*self.hidden, *([self.database.parent] if self.database else [])),
            writable=tuple(self.writable),
            own_file=self.own_file,
        )


@asynccontextmanager
async def hub(config: HubConfig) -> AsyncIterator[Hub]:
    """Opens the store, adopts running sessions, and runs until it is left. Claudes keep running."""
    with _claimed(config.state, config.database):
        claude_config = config.for_sessions(await sandbox_support.look())
        async with (
            store_for(config, "") as store,
            Feed(store) as feed,
            Inbox(store, config.clock, config.rules, elapsed) as inbox,
            SessionPool(claude_config, store, feed, inbox) as pool,
        ):
            supervisor = Supervisor(claude_config, store, pool)
            desk = LocalDesk(
                Person("owner"),
                "hub",
                store=store,
                feed=feed,
                inbox=inbox,
                supervisor=supervisor,
                clock=config.clock,
                entropy=os.urandom,
            )
            yield Hub(desk, pool, store, feed, inbox, claude_config.wall)


def store_for(config: HubConfig, machine: str) -> Store:
    """The store that the settings name, for this machine; not entered yet."""
    if config.store is not None:
        return config.store(machine)
    return SqliteStore(config.database or config.state / DATABASE, machine)


@contextmanager
def _claimed(state: Path, database: Path | None) -> Iterator[None]:
    """Claims private folders for our data, with locks that end with this process."""
    with ExitStack() as held:
        make_private(state)
        held.enter_context(locked(state / "hub.lock", state))
        if database is not None:
            make_private(database.parent)
            held.enter_context(locked(database.with_name(f"{database.name}.lock"), database))
        yield


def make_private(folder: Path) -> None:
    """Creates a folder that only this user can use; raises StateExposed or StateUnreachable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise StateUnreachable(f"Can't use {folder}: {error.strerror}. Choose another directory.") from error
    if status.st_uid != os.geteuid():
        raise StateExposed(f"{folder} belongs to another user. Choose another directory.")
    if status.st_mode & 0o077:
        raise StateExposed(f"Other users can read {folder}. Make it private: chmod 700 {folder}")


@contextmanager
def locked(file: Path, what: Path) -> Iterator[None]:
    """Holds a hub's lock; raises HubRunning."""
    try:
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StateUnreachable(f"Can't open {file}: {error.strerror}. Choose another directory.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        running = os.read(lock, 100).decode(errors="replace").strip()
        os.close(lock)
        raise HubRunning(f"A hub is already running on {what} (process {running}).") from None
    os.truncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    try:
        yield
    finally:
        os.close(lock)
