"""Assembles the parts of a hub, and shuts them down in order. One hub for each state folder."""

import fcntl
import importlib
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field

import handraise
from handraise.claude import sandbox_support
from handraise.claude.sandbox_support import SandboxSupport
from handraise.feed import Feed
from handraise.hub.desk import LocalDesk
from handraise.hub.lease import Lease
from handraise.hub.machine_file import MachineFile, MachineUnreadable
from handraise.hub.replacing import ReplacementUnreadable, finish_replacing
from handraise.hub.shared_clock import SharedClock
from handraise.inbox.inbox import Inbox
from handraise.model.actors import Person
from handraise.model.machines import BEAT, Machine
from handraise.model.projects import Options, OwnFile, no_own_file
from handraise.model.rules import Rule
from handraise.session.machine import SessionLimits
from handraise.session.performer import Performer
from handraise.session.pool import SessionPool
from handraise.session.remote import Dispatcher
from handraise.session.reviews import Reviewer
from handraise.session.starting import ClaudeConfig
from handraise.session.supervisor import Supervisor
from handraise.store.interface import Store
from handraise.store.sqlite.database import machines_in
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
    lease: Lease
    reviewer: Reviewer
    dispatcher: Dispatcher
    clock: Callable[[], datetime] = now
    """The time; with a shared database, as all of its hubs know it."""

    @property
    def machine(self) -> Machine:
        """The machine that this hub runs on, as it was claimed."""
        return self.lease.machine

    @property
    def trouble(self) -> str:
        """Why this hub doesn't run sessions, or can't store anything, as a sentence; empty if all is well."""
        return self.pool.trouble or self.lease.trouble


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
    database: Path | str | None = None
    """The database, if it isn't in the state folder: a file, or the URL of one that several machines share."""
    machine_name: str | None = None
    """What this machine is called at first; otherwise its host name."""
    store: Callable[[str], Store] | None = None
    """Opens the store of a machine, if it is none of those."""
    beat: float = BEAT
    """How often a shared database hears of this machine, in seconds."""
    hidden: Sequence[Path] = ()
    """What no Claude ever sees, besides the state folder and the database."""
    writable: Sequence[str] = ()
    """Directories that every sandbox may write to."""

    def for_sessions(self, wall: SandboxSupport, clock: Callable[[], datetime]) -> ClaudeConfig:
        """The part that sessions use."""
        return ClaudeConfig(
            program=self.program,
            environment=self.environment,
            state=self.state,
            clock=clock,
            entropy=os.urandom,
            limits=self.limits,
            options=self.options,
            wall=wall,
            limit=self.limit,
            hidden=(*self.hidden, *([self.database.parent] if isinstance(self.database, Path) else [])),
            writable=tuple(self.writable),
            own_file=self.own_file,
        )


@asynccontextmanager
async def hub(config: HubConfig) -> AsyncIterator[Hub]:
    """Opens the store, adopts running sessions, and runs until it is left. Claudes keep running."""
    with _claimed(config.state, config.database if isinstance(config.database, Path) else None):
        clock = SharedClock(config.clock)
        claude_config = config.for_sessions(await sandbox_support.look(), clock)
        file = _machine_file(config)
        store = store_for(config, file.id)
        feed = Feed(store)
        inbox = Inbox(store, clock, config.rules, elapsed)
        pool = SessionPool(claude_config, store, feed, inbox)
        supervisor = Supervisor(claude_config, store, pool)
        lease = Lease(
            store,
            _machine(config, store.machine),
            clock,
            pool.let_go,
            every=config.beat if store.shared else None,
            file=file,
        )
        dispatcher = Dispatcher(store, clock, os.urandom)
        reviewer = Reviewer(config.state, clock, os.urandom)
        async with (
            store,
            lease,
            feed,
            inbox,
            pool,
            dispatcher,
            Performer(store, supervisor, pool, reviewer, clock, lease.machine.epoch) if store.shared else nullcontext(),
        ):
            desk = LocalDesk(
                Person("owner"),
                "hub",
                store=store,
                feed=feed,
                inbox=inbox,
                supervisor=supervisor,
                dispatcher=dispatcher,
                clock=clock,
                entropy=os.urandom,
            )
            yield Hub(desk, pool, store, feed, inbox, claude_config.wall, lease, reviewer, dispatcher, clock)


def store_for(config: HubConfig, machine: str) -> Store:
    """The store that the settings name, for this machine; not entered yet."""
    if config.store is not None:
        return config.store(machine)
    if isinstance(config.database, str):
        # Only hubs that share a database import what belongs to PostgreSQL.
        postgres = importlib.import_module("handraise.store.postgres.store")
        store: Store = postgres.PostgresStore(config.database, machine)
        return store
    return SqliteStore(config.database or config.state / DATABASE, machine)


def _machine_file(config: HubConfig) -> MachineFile:
    state = config.state
    try:
        # A database of its own knows better: it may come from a backup, or from another state folder.
        return MachineFile(state, os.urandom, _only_machine(config))
    except MachineUnreadable as error:
        raise StateUnreachable(str(error)) from error
    except OSError as error:
        raise StateUnreachable(f"Can't write to {state}: {error.strerror}. Choose another directory.") from error


def _only_machine(config: HubConfig) -> str | None:
    """The machine that a file of its own belongs to. Of several, copied from a shared database, nobody knows which."""
    if config.store is not None or isinstance(config.database, str):
        return None
    file = config.database or config.state / DATABASE
    found = machines_in(file) if file.exists() else []
    return found[0] if len(found) == 1 else None


def _machine(config: HubConfig, identity: str) -> Machine:
    name = (config.machine_name or "").strip() or socket.gethostname() or identity
    at = config.clock()
    return Machine(identity, name, handraise.__version__, config.limit, started_at=at, seen_at=at)


@contextmanager
def _claimed(state: Path, database: Path | None) -> Iterator[None]:
    """Claims private folders for our data, with locks that end with this process."""
    with ExitStack() as held:
        make_private(state)
        held.enter_context(locked(state / "hub.lock", state))
        if database is not None:
            make_private(database.parent)
            held.enter_context(locked(database.with_name(f"{database.name}.lock"), database))
        try:
            finish_replacing(state)  # a restore that was killed halfway
        except (ReplacementUnreadable, OSError) as error:
            raise StateUnreachable(f"A restore of {state} couldn't be finished. {error} Restore it again.") from error
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
        # Closing is not enough: a child that was forked and hasn't executed its program yet shares the lock.
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)
