"""The only thread that writes. Queued batches are committed together; one that fails doesn't affect the others.

The queue is never longer than the number of callers, since each waits for its batch.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

import apsw
from msgspec import Struct

from handraise.model.asks import Ask
from handraise.store.changes import Applied, Change
from handraise.store.sqlite.batch import Batch, newest_cursor
from handraise.store.sqlite.database import explain
from handraise.store.sqlite.log import WriteAheadLog
from handraise.store.surrogates import mended

GROUP = 1000
"""How many batches can share a commit: the first of them waits for the last."""

Outcome = Applied | Exception
T = TypeVar("T")


class QueuedBatch(Struct, Generic[T], frozen=True):
    """A batch to store, and the callback to report to."""

    changes: Sequence[Change]
    caller: T


Report = Callable[[Sequence[QueuedBatch[T]], Sequence[Outcome]], None]


class Writer(Generic[T]):
    """Owns its connection, and closes it once everything ordered before `close` is stored.

    `report` is called on the writer's thread after each commit, before the next one begins. `foretell` is called there
    with the asks of a transaction before the disk has them.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        report: Report[T],
        machine: str = "",
        foretell: Callable[[Sequence[Ask]], None] = lambda _: None,
    ) -> None:
        self.connection = connection
        self.path = path
        self.report = report
        self.machine = machine
        self.foretell = foretell
        self._orders: SimpleQueue[QueuedBatch[T] | None] = SimpleQueue()
        self._newest = 0
        self.log = WriteAheadLog(connection)
        self._thread = Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def order(self, order: QueuedBatch[T]) -> None:
        """Returns immediately; the outcome is reported."""
        self._orders.put(order)

    def close(self) -> None:
        """Waits until everything is stored."""
        self._orders.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while group := self._next_group():
                self.report(group, self._commit(group))
                if self.log.is_overdue:
                    self.log.tidy()
        finally:
            self.connection.close()

    def _next_group(self) -> list[QueuedBatch[T]]:
        """All queued batches, at least one; nothing once the writer is closed."""
        group: list[QueuedBatch[T]] = []
        order = self._first_order()
        while order is not None:
            group.append(order)
            if len(group) == GROUP:
                return group
            try:
                order = self._orders.get_nowait()
            except Empty:
                return group
        if group:
            self._orders.put(None)
        return group

    def _first_order(self) -> QueuedBatch[T] | None:
        pause = self.log.pause
        if pause is not None:
            try:
                return self._orders.get(timeout=pause)
            except Empty:
                self.log.tidy()
        return self._orders.get()

    def _commit(self, group: Sequence[QueuedBatch[T]]) -> list[Outcome]:
        alone = len(group) == 1
        try:
            self._begin()
            outcomes = [self._outcome(order.changes, alone=alone) for order in group]
            asks = [ask for each in outcomes if isinstance(each, Applied) for ask in each.asks]
            if asks:
                self.foretell(asks)
            self.connection.execute("COMMIT")
        except apsw.Error as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            if isinstance(error, apsw.FullError) and not alone:
                # What was too much together may fit one by one; only a batch that is too big by itself is refused.
                return [self._commit([order])[0] for order in group]
            return [explain(error, self.path) for _ in group]
        self.log.grow()
        return outcomes

    def _begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        # Read each time: another process may have written in between.
        self._newest = newest_cursor(self.connection)

    def _outcome(self, changes: Sequence[Change], *, alone: bool) -> Outcome:
        try:
            return self._keep_readable(changes, alone=alone)
        except Exception as error:  # a bug in one batch is reported to its caller only
            if not self.connection.in_transaction:
                raise  # SQLite rolled back the whole transaction, as it may when the disk is full
            return explain(error, self.path)

    def _keep_readable(self, changes: Sequence[Change], *, alone: bool) -> Applied:
        try:
            return self._keep(changes, alone=alone)
        except UnicodeEncodeError:
            return self._keep([mended(change) for change in changes], alone=alone)

    def _keep(self, changes: Sequence[Change], *, alone: bool) -> Applied:
        """A batch that is alone in its transaction needs no savepoint: without it, nothing is left to commit."""
        if not alone:
            self.connection.execute("SAVEPOINT batch")
        batch = Batch(self.connection, self._newest, self.machine)
        try:
            took = tuple([batch.take(change) for change in changes])
            batch.close()
        except BaseException:
            if self.connection.in_transaction:
                self._undo(alone=alone)
            raise
        if not alone:
            self.connection.execute("RELEASE batch")
        self._newest = batch.newest
        return Applied(took, tuple(batch.items), tuple(batch.asks))

    def _undo(self, *, alone: bool) -> None:
        if alone:
            self.connection.execute("ROLLBACK")
            self._begin()
        else:
            self.connection.execute("ROLLBACK TO batch")
            self.connection.execute("RELEASE batch")
