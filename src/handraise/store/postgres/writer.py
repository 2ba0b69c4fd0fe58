"""The only task that writes. Queued batches are committed together; one that fails doesn't affect the others.

The queue is never longer than the number of callers, since each waits for its batch. While the database is away, a
caller waits for a short time and then hears that nothing was stored. Nobody hears of a commit before it is certain:
if the connection is lost during one, the number of the last batch in the database says whether it happened.
"""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
from msgspec import Struct

from handraise.model.items import Item
from handraise.model.machines import Machine
from handraise.store.changes import Applied, Change
from handraise.store.interface import StoreAway, StoreClosed, StoreError, StoreFenced
from handraise.store.postgres.batch import PostgresBatch
from handraise.store.postgres.connecting import Connecting, Connection, watched
from handraise.store.postgres.database import SQL
from handraise.store.postgres.errors import explain, is_lost
from handraise.store.postgres.reader import PostgresReader
from handraise.store.postgres.tail import Commit
from handraise.store.surrogates import mended
from handraise.texts import t

GROUP = 1000
"""How many batches can share a commit: the first of them waits for the last."""
CHANNEL = "handraise"
"""Where commits are announced."""
_IDLE = 1 / 3
"""The part of the time after which a connection counts as lost that the server keeps the locks of a silent hub."""
_ATTEMPTS = 5
"""How often a group that others got in the way of is tried."""
_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
_OLD_RECEIPT = 30 * 24 * 3600 * 1_000_000
_BEGIN = """
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL idle_in_transaction_session_timeout = {idle};
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'
"""

Perform = Callable[[PostgresBatch], Awaitable[Any]]


class WriteOrder(Struct, eq=False):
    """What to do in a transaction, and who waits for it. `perform` returns what the caller gets."""

    caller: "asyncio.Future[Any]"
    deadline: float
    changes: Sequence[Change] = ()
    perform: Perform | None = None
    """Instead of changes; alone in its transaction."""
    fenced: bool = True


class _Failed(Exception):
    """One order of the group can't be done; nothing of the group was stored."""

    def __init__(self, order: WriteOrder, error: Exception) -> None:
        super().__init__(str(error))
        self.order = order
        self.error = error


class _Done(Struct, frozen=True):
    """What a transaction did, if it is committed."""

    number: int
    batch: PostgresBatch
    results: list[Any]


class PostgresWriter:
    """`epoch` is that of the machine, once it was claimed: no batch is stored after another hub has claimed it."""

    def __init__(
        self,
        connecting: Connecting,
        identity: str,
        machine: str,
        committed: Callable[[Commit], None],
        last: Callable[[], Item | None] = lambda: None,
    ) -> None:
        """`last` is the newest item that this hub has heard of: after each outage it must still be there."""
        self.epoch: int | None = None
        self.fenced: StoreFenced | None = None
        """Why nothing may be written from here any more, whatever the epoch is."""
        self.away: StoreAway | None = None
        """Why the database can't be reached, while it can't."""
        self._connecting = connecting
        self._identity = identity
        self._machine = machine
        self._committed = committed
        self._last = last
        self._begin = _BEGIN.format(idle=round(connecting.hang_seconds * _IDLE * 1000))
        self._connection: Connection | None = None
        self._orders: deque[WriteOrder] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._number = 0
        self._confirmed = 0
        """The last batch that is known to be committed."""
        self._pause = _SHORTEST_PAUSE
        self._away_since = 0.0

    @property
    def name(self) -> str:
        """What the server calls this writer's connections."""
        return f"handraise writer {self._identity}"

    @property
    def given_up(self) -> StoreAway | None:
        """Why the database can't be reached, once it has been away for longer than callers wait."""
        waited = asyncio.get_running_loop().time() - self._away_since
        return self.away if waited > self._connecting.patience else None

    def order(self, order: WriteOrder) -> None:
        """Returns immediately; the outcome is reported."""
        self._orders.append(order)
        self._wake.set()

    def close(self) -> None:
        """Ends `run` when everything that was ordered is done."""
        self._closing = True
        self._wake.set()

    async def run(self) -> None:
        """Until it is closed, or cancelled: then those who wait hear that the store was closed."""
        group: list[WriteOrder] = []
        try:
            while not self._closing or self._orders:
                await self._connected([])
                group = await self._next_group()
                await self._store(group)
            await self._say_goodbye()
        finally:
            if self._connection is not None:
                self._connection.terminate()
            for order in (*group, *self._orders):
                _refuse(order, StoreClosed(t("error.postgres.closed", where=self._where)))

    @property
    def _where(self) -> str:
        return self._connecting.address.shown

    async def _next_group(self) -> list[WriteOrder]:
        """All queued orders, as far as they can be done together. None if the connection is lost, or it is closed."""
        if not self._orders and not self._closing:
            self._wake.clear()
            await self._wake.wait()
        group: list[WriteOrder] = []
        while self._orders and len(group) < GROUP:
            if self._orders[0].perform is not None and group:
                break
            group.append(self._orders.popleft())
            if group[0].perform is not None:
                break
        return group

    async def _store(self, group: list[WriteOrder]) -> None:
        """Returns when each order of the group has an outcome. Those are taken out of it."""
        attempts = 0
        while group:
            connection = await self._connected(group)
            if not group:
                break
            try:
                done = await self._transact(connection, group)
            except _Failed as failed:
                if not self._mend(failed):
                    group.remove(failed.order)
                    _refuse(failed.order, failed.error)
            except StoreFenced as error:
                for order in [each for each in group if each.fenced]:
                    group.remove(order)
                    _refuse(order, StoreFenced(error.problem, error.advice))
            except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError) as error:
                attempts += 1
                if attempts == _ATTEMPTS:
                    await self._apart(group, error)
                else:
                    await asyncio.sleep(random.uniform(0, 0.05 * attempts))
            except Exception as error:
                if is_lost(error):
                    self._lose()
                else:
                    await self._apart(group, error)
            else:
                self._report(tuple(group), done)
                group.clear()

    def _mend(self, failed: _Failed) -> bool:
        """Text with half characters is tried again without them."""
        if not isinstance(failed.error, UnicodeEncodeError):
            return False
        whole = [mended(change) for change in failed.order.changes]
        if whole == list(failed.order.changes):
            return False
        failed.order.changes = whole
        return True

    async def _apart(self, group: list[WriteOrder], error: Exception) -> None:
        """What was too much together may be done one by one; only what fails by itself is refused."""
        if len(group) == 1:
            _refuse(group.pop(), explain(error, self._where))
        while group:
            await self._store([group[0]])
            group.pop(0)

    async def _transact(self, connection: Connection, group: Sequence[WriteOrder]) -> _Done:
        self._number += 1
        number, committing = self._number, False
        try:
            with watched(connection, self._connecting.hang_seconds):
                await connection.execute(self._begin)
            batch = PostgresBatch(connection, self._machine, self._connecting.hang_seconds)
            changes = (change for order in group for change in order.changes)
            self._check_epoch(await batch.begin(self._identity, number, changes), group)
            results = [await self._perform(batch, order) for order in group]
            await batch.flush()
            done = _Done(number, batch, results)
            committing = True
            await self._commit(connection, batch)
        except Exception as error:
            if not is_lost(error) and not connection.is_closed():
                await self._roll_back(connection)
                raise
            self._lose()
            if committing and await self._was_committed(number):
                return done
            raise asyncpg.ConnectionDoesNotExistError("the connection was lost") from error
        return done

    def _check_epoch(self, epoch: int | None, group: Sequence[WriteOrder]) -> None:
        if self.fenced is not None and any(order.fenced for order in group):
            raise self.fenced
        if self.epoch not in (None, epoch) and any(order.fenced for order in group):
            raise StoreFenced(t("error.store.fenced"), t("error.store.unfence"))

    async def _perform(self, batch: PostgresBatch, order: WriteOrder) -> tuple[Any, slice, slice]:
        """What the caller gets, and which items and asks are its."""
        items, asks = batch.published, len(batch.asks)
        try:
            if order.perform is not None:
                result = await order.perform(batch)
            else:
                result = tuple([await batch.take(change) for change in order.changes])
        except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.DiskFullError):
            raise
        except Exception as error:
            if is_lost(error):
                raise
            raise _Failed(order, _explained(error, self._where)) from error
        return result, slice(items, batch.published), slice(asks, len(batch.asks))

    async def _commit(self, connection: Connection, batch: PostgresBatch) -> None:
        notify = ""
        if batch.base is not None:
            # All of it is ours: numbers, and an identity of letters and digits.
            payload = f"c {batch.newest} {batch.rules} {self._identity}"
            notify = f"SELECT pg_notify('{CHANNEL}', '{payload}');"
        with watched(connection, self._connecting.hang_seconds):
            status = await connection.execute(f"{notify} COMMIT")
        if status != "COMMIT":
            raise RuntimeError(f"PostgreSQL answered {status} to COMMIT")

    async def _roll_back(self, connection: Connection) -> None:
        try:
            with watched(connection, self._connecting.hang_seconds):
                await connection.execute("ROLLBACK")
        except Exception:
            self._lose()

    async def _was_committed(self, number: int) -> bool:
        """Waits until that is certain: those who wait for the group can't be told anything before."""
        receipt = SQL["receipt"]
        while True:
            connection = await self._connected([])
            try:
                with watched(connection, self._connecting.hang_seconds):
                    found = await connection.fetchval(receipt.text, *receipt.arguments({"writer": self._identity}))
            except Exception as error:
                if not is_lost(error):
                    await asyncio.sleep(_LONGEST_PAUSE)
                self._lose()
            else:
                return bool(found == number)

    def _report(self, group: Sequence[WriteOrder], done: _Done) -> None:
        batch = done.batch
        self._confirmed = done.number
        for result, _, _ in done.results:
            if isinstance(result, Machine):
                self.epoch = result.epoch

        def tell() -> None:
            for order, (result, items, asks) in zip(group, done.results, strict=True):
                if order.caller.done():
                    continue  # the caller was cancelled: it stopped waiting, but the batch is stored
                if order.perform is None:
                    order.caller.set_result(Applied(result, tuple(batch.items[items]), tuple(batch.asks[asks])))
                else:
                    order.caller.set_result(result)

        self._committed(
            Commit(
                tell,
                batch.base,
                batch.newest,
                tuple(batch.items),
                tuple(batch.asks),
                batch.rules or 0,
                batch.changed_rules,
            )
        )

    async def _connected(self, group: list[WriteOrder]) -> Connection:
        """The connection, made again if it was lost. Meanwhile orders whose time is up are taken out and refused."""
        while self._connection is None or self._connection.is_closed():
            try:
                self._connection = await self._connect()
            except StoreError as error:
                self._note_away(error)
                self._give_up(group)
                await asyncio.sleep(self._pause * random.uniform(0.5, 1))
                self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        self.away = None
        self._pause = _SHORTEST_PAUSE
        return self._connection

    def _note_away(self, error: StoreError) -> None:
        if self.away is None:
            self._away_since = asyncio.get_running_loop().time()
        self.away = StoreAway(error.problem, error.advice)

    async def _connect(self) -> Connection:
        connection = await self._connecting.connect(self.name, seconds=self._connecting.patience)
        try:
            with watched(connection, self._connecting.hang_seconds):
                self.fenced = self.fenced or await self._cloned(connection)
                if self.fenced is None:
                    # A connection that the server has not given up yet may hold locks that we would wait for. Those of
                    # another process with our name are left alone.
                    lost = SQL["end_lost_connections"]
                    await connection.fetch(lost.text, *lost.arguments({"name": self.name}))
                old = SQL["remove_old_receipts"]
                await connection.execute(old.text, *old.arguments({"age": _OLD_RECEIPT}))
                own = SQL["keep_receipt"]
                await connection.execute(own.text, *own.arguments({"writer": self._identity}))
                self.fenced = self.fenced or await self._changed_history(connection)
        except Exception as error:
            connection.terminate()
            explained = explain(error, self._where)
            if explained is error:
                raise
            raise explained from error
        connection.add_termination_listener(lambda _connection: self._wake.set())
        return connection

    async def _cloned(self, connection: Connection) -> StoreFenced | None:
        """Whether a copy of this very process, in a cloned virtual machine, commits with our name."""
        seen = SQL["seen_receipt"]
        number = await connection.fetchval(seen.text, *seen.arguments({"writer": self._identity})) or 0
        return StoreFenced(t("error.store.fenced"), t("error.store.unfence")) if number > self._number else None

    async def _changed_history(self, connection: Connection) -> StoreFenced | None:
        """Whether commits are gone: a standby that was behind has become the primary, or a backup was restored.

        What we know in memory would then contradict what is stored.
        """
        receipt = SQL["receipt"]
        number = await connection.fetchval(receipt.text, *receipt.arguments({"writer": self._identity})) or 0
        last = self._last()
        if 0 < number < self._confirmed or (last is not None and not await self._is_there(connection, last)):
            return StoreFenced(t("error.store.went_back"), t("error.store.restart"))
        return None

    async def _is_there(self, connection: Connection, item: Item) -> bool:
        reader = PostgresReader(connection, self._machine)
        found = await reader.items(item.cursor - 1, item.cursor + 1, None, 1)
        if found:
            return (found[0].session, found[0].at) == (item.session, item.at)
        pruned, _ = await reader.cursors()
        return pruned >= item.cursor

    def _lose(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    def _give_up(self, group: list[WriteOrder]) -> None:
        away = self.away or StoreAway(t("error.postgres.away_now", where=self._where))
        now = asyncio.get_running_loop().time()
        for orders in (group, self._orders):
            for order in [each for each in orders if each.deadline <= now or self._closing]:
                orders.remove(order)
                _refuse(order, StoreAway(away.problem, away.advice))

    async def _say_goodbye(self) -> None:
        if self._connection is None or self._connection.is_closed():
            return
        goodbye = SQL["remove_receipt"]
        try:
            with watched(self._connection, self._connecting.patience):
                await self._connection.execute(goodbye.text, *goodbye.arguments({"writer": self._identity}))
                await self._connection.close(timeout=self._connecting.patience)
        except Exception as error:
            if not is_lost(error):
                raise


def _refuse(order: WriteOrder, error: BaseException) -> None:
    if not order.caller.done():
        order.caller.set_exception(error)


def _explained(error: Exception, where: str) -> Exception:
    explained = explain(error, where)
    return explained if isinstance(explained, Exception) else error
