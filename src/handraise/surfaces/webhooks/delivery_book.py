"""What was and will be sent to one webhook: small records in the store, with a copy in memory.

A change is stored before anything follows from it. Several hubs, and several tasks of one, may change the same
delivery: whoever comes second takes over what the first one did, and decides again.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from handraise.desk.interface import Refused
from handraise.desk.shared import RecordChange, SharedRecords
from handraise.model.webhooks import WebhookDelivery, WebhookHealth
from handraise.surfaces.webhooks import retries
from handraise.texts import t

_HEALTH = "health"
_TRIES = 20

log = logging.getLogger("handraise.webhooks")


def kind_of(webhook: str) -> str:
    """The kind of the records of one webhook."""
    return f"webhook {webhook}"


class DeliveryBook:
    """Use it after `refresh`."""

    def __init__(self, records: SharedRecords, webhook: str) -> None:
        self.deliveries: dict[str, WebhookDelivery] = {}
        self.health = WebhookHealth()
        self._records = records
        self._kind = kind_of(webhook)
        self._stored: dict[str, bytes] = {}
        self._storing = asyncio.Lock()
        """Around each read or write: what was read earlier must not replace what was written since."""

    async def refresh(self) -> None:
        """Takes over what is stored."""
        async with self._storing:
            stored = await self._records.read(self._kind)
            for key in [each for each in self._stored if each not in stored]:
                self._forget(key)
            for key, value in stored.items():
                if self._stored.get(key) != value:
                    self._take_over(key, value)

    async def add(self, delivery: WebhookDelivery, now: datetime) -> bool:
        """Whether it is new. It is durable when this returns; if too many are queued, the oldest fail."""
        if delivery.id in self.deliveries:
            return False
        is_new = await self._save(delivery.id, msgspec.json.encode(delivery), None)
        if not is_new:
            await self.refresh()
        for each in retries.queued(self.deliveries.values())[: -retries.MOST_QUEUED]:
            await self.change(each.id, lambda oldest: retries.given_up(oldest, now))
        return is_new

    async def change(
        self,
        delivery: str,
        decide: Callable[[WebhookDelivery], WebhookDelivery],
        health: Callable[[WebhookHealth], WebhookHealth] = lambda same: same,
    ) -> WebhookDelivery | None:
        """The delivery after the decision, which is made again if someone was faster. None if it is gone.

        How the webhook is after it is stored together with it.
        """
        for _ in range(_TRIES):
            before = self.deliveries.get(delivery)
            if before is None:
                return None
            after = decide(before)
            if await self._store(before, after, health(self.health)):
                await self._tidy()
                return after
            await self.refresh()
        raise Refused(t("webhooks.error.busy"))

    async def _store(self, before: WebhookDelivery, after: WebhookDelivery, health: WebhookHealth) -> bool:
        """Whether the delivery was stored. If another hub changed the health meanwhile, that one stays."""
        changes = []
        if after != before:
            changes.append(RecordChange(after.id, msgspec.json.encode(after), self._stored[after.id]))
        if health != self.health:
            changes.append(RecordChange(_HEALTH, msgspec.json.encode(health), self._stored.get(_HEALTH)))
        if not changes:
            return True
        async with self._storing:
            took = await self._records.save(self._kind, changes)
            for change, did in zip(changes, took, strict=True):
                if did and change.value is not None:
                    self._take_over(change.key, change.value)
        return took[0]

    async def remove(self) -> None:
        """Everything, for good."""
        await self.refresh()
        await self._remove(list(self._stored))

    async def _tidy(self) -> None:
        await self._remove([each.id for each in retries.surplus(self.deliveries.values())])

    async def _remove(self, keys: Sequence[str]) -> None:
        if not keys:
            return
        async with self._storing:
            await self._records.save(self._kind, [RecordChange(each, None, None) for each in keys])
            for each in keys:
                self._forget(each)

    async def _save(self, key: str, value: bytes, only_if: bytes | None) -> bool:
        async with self._storing:
            (took,) = await self._records.save(self._kind, [RecordChange(key, value, only_if)])
            if took:
                self._take_over(key, value)
        return took

    def _take_over(self, key: str, value: bytes) -> None:
        try:
            if key == _HEALTH:
                self.health = msgspec.json.decode(value, type=WebhookHealth)
            else:
                self.deliveries[key] = msgspec.json.decode(value, type=WebhookDelivery)
        except msgspec.MsgspecError:
            log.warning("a delivery in the database can't be read", extra={"delivery": key})
            self.deliveries.pop(key, None)
        self._stored[key] = value

    def _forget(self, key: str) -> None:
        self._stored.pop(key, None)
        self.deliveries.pop(key, None)
        if key == _HEALTH:
            self.health = WebhookHealth()
