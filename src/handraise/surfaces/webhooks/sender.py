"""Sends one webhook what is due, one event at a time, and remembers what came back.

An event is stored before it is sent, and its outcome after that. If the hub dies in between, it is sent again, with the
same ID.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from handraise.model.webhooks import DeliveryAttempt, Webhook, WebhookDelivery
from handraise.surfaces.webhooks import retries, signing
from handraise.surfaces.webhooks.delivery_book import DeliveryBook

if TYPE_CHECKING:
    from handraise.surfaces.webhooks.client import WebhookClient, WebhookResponse

_LONGEST_SLEEP = 30.0
"""The clock may be set, or the machine may sleep: what is due is checked again after this long."""
_AFTER_A_FAULT = 5.0

log = logging.getLogger("handraise.webhooks")


class WebhookSender:
    """One webhook. `current` is the webhook as it is set now; None if it was removed.

    `may_send`: whether this hub may send now; if not, another one may do it. `gone` turns the webhook off.
    """

    def __init__(
        self,
        book: DeliveryBook,
        current: Callable[[], Webhook | None],
        client: Callable[[], Awaitable["WebhookClient"]],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        gone: Callable[[Webhook], Awaitable[None]],
        may_send: Callable[[], bool] = lambda: True,
        *,
        is_shared: bool = False,
    ) -> None:
        self.book = book
        self.changed = asyncio.Event()
        self._current = current
        self._client = client
        self._clock = clock
        self._entropy = entropy
        self._gone = gone
        self._may_send = may_send
        self._is_shared = is_shared

    async def go(self) -> None:
        """Runs until it is canceled."""
        while True:
            try:
                await self._go_once()
            except Exception:  # outer boundary: one webhook's problem must not affect others
                log.exception("sending to a webhook failed; trying again")
                await asyncio.sleep(_AFTER_A_FAULT)

    async def resend(self, webhook: Webhook, delivery: WebhookDelivery) -> WebhookDelivery:
        """Sends it immediately, because a person wants that."""
        attempt, _ = await self._attempt(webhook, delivery)
        changed = await self.book.change(
            delivery.id,
            lambda each: retries.after_resend(each, attempt),
            lambda health: retries.health_after(health, attempt),
        )
        await self._check_gone(webhook, attempt)
        return changed or retries.after_resend(delivery, attempt)

    async def _go_once(self) -> None:
        self.changed.clear()
        webhook = self._current()
        due = retries.next_due(self.book.deliveries.values(), self._clock())
        if webhook is None or not webhook.enabled or not self._may_send() or not isinstance(due, WebhookDelivery):
            await self._rest(due if isinstance(due, datetime) else None)
            return
        if self._is_shared and not await self._is_still_due(due):
            return
        attempt, response = await self._attempt(webhook, due)
        chance = self._entropy(1)[0] / 255
        await self.book.change(
            due.id,
            lambda each: retries.after_attempt(each, attempt, chance, response.wish),
            lambda health: retries.health_after(health, attempt),
        )
        await self._check_gone(webhook, attempt)

    async def _is_still_due(self, due: WebhookDelivery) -> bool:
        """Whether no other hub has sent it meanwhile."""
        await self.book.refresh()
        return self.book.deliveries.get(due.id) == due and self._may_send()

    async def _attempt(self, webhook: Webhook, delivery: WebhookDelivery) -> tuple[DeliveryAttempt, "WebhookResponse"]:
        client, loop = await self._client(), asyncio.get_running_loop()
        now, began, body = self._clock(), loop.time(), delivery.body.encode()
        response = await client.post(webhook.url, signing.headers_of(webhook.secrets, delivery.id, body, now), body)
        took = int((loop.time() - began) * 1000)
        if response.problem:
            log.warning("a webhook failed: %s", response.problem, extra={"webhook": webhook.id})
        return DeliveryAttempt(now, took, response.status, response.problem, response.answer), response

    async def _check_gone(self, webhook: Webhook, attempt: DeliveryAttempt) -> None:
        if retries.is_gone(attempt):
            await self._gone(webhook)

    async def _rest(self, until: datetime | None) -> None:
        seconds = _LONGEST_SLEEP
        if until is not None:
            seconds = min(max((until - self._clock()).total_seconds(), 0.0), seconds)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.changed.wait()
