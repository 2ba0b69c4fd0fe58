"""Webhooks over HTTP: who gets events, what was sent, and their types. A secret is in one response only."""

from datetime import datetime
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict
from starlette.responses import Response

from handraise.api.requests import ApiRequest, Route, answer
from handraise.api.schemas import Done, Name
from handraise.model.actors import Person
from handraise.model.tokens import may
from handraise.model.webhooks import (
    DeliveryAttempt,
    DeliveryState,
    EventName,
    NewWebhook,
    WebhookDelivery,
    WebhookState,
    WebhookSummary,
)

_LARGEST = 16 * 1024
_MOST_PROJECTS = 100
Url = Annotated[str, Meta(max_length=2048)]
EventNames = Annotated[tuple[EventName, ...], Meta(max_length=20)]
ProjectIds = Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(max_length=_MOST_PROJECTS)]


class WebhookSchema(Struct, frozen=True):
    """A webhook, without its secret. For viewers and approvers, `url` is only its host."""

    id: str
    name: str
    url: str
    events: tuple[EventName, ...]
    """Empty: all."""
    projects: tuple[str, ...]
    """The IDs of projects. Empty: all, and what belongs to none."""
    content: bool
    """Whether events contain what Claude and people wrote."""
    state: WebhookState
    """`gone`: its receiver answered 410, which turned it off."""
    queued: int
    """How many events wait."""
    created_at: datetime
    created_by: str
    last_sent_at: datetime | None
    failing_since: datetime | None
    trouble: str
    """Why the last attempt failed; empty if it didn't."""
    old_secret_until: datetime | None
    """Until when the secret before the current one signs, too."""


class WebhooksSchema(Struct, frozen=True):
    """All webhooks, oldest first."""

    webhooks: list[WebhookSchema]


class AddedWebhook(Struct, frozen=True, forbid_unknown_fields=True):
    """An address, and what it gets."""

    name: Name
    url: Url
    events: EventNames = ()
    projects: ProjectIds = ()
    content: bool = False
    enabled: bool = True


class WebhookChange(Struct, frozen=True, forbid_unknown_fields=True):
    """What changes. Fields that are left out stay the same."""

    name: Name | UnsetType = UNSET
    url: Url | UnsetType = UNSET
    events: EventNames | UnsetType = UNSET
    projects: ProjectIds | UnsetType = UNSET
    content: bool | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class MadeWebhook(Struct, frozen=True):
    """A webhook and its secret, which is shown only once."""

    webhook: WebhookSchema
    secret: str


class DeliverySchema(Struct, frozen=True):
    """An event for one webhook, and how often it was sent. `id` is its `webhook-id`."""

    id: str
    event: str
    at: datetime
    state: DeliveryState
    tries: int
    """How often it was sent by itself."""
    next_at: datetime | None
    """When it is sent again."""
    about: str
    """The ID of the ask or session that it is about."""
    body: str
    """What is sent, as JSON."""
    attempts: tuple[DeliveryAttempt, ...]
    """The last ones, oldest first."""


class DeliveriesSchema(Struct, frozen=True):
    """What is queued, and the last ones that were sent or failed; newest first."""

    deliveries: list[DeliverySchema]


class WebhookDesk(Protocol):
    """What people can do with webhooks."""

    async def list_all(self) -> list[WebhookSummary]: ...

    async def add(self, wanted: NewWebhook, by: Person, source: str) -> tuple[WebhookSummary, str]: ...

    async def change(self, webhook: str, wanted: dict[str, Any], by: Person, source: str) -> WebhookSummary: ...

    async def rotate(self, webhook: str, by: Person, source: str) -> tuple[WebhookSummary, str]: ...

    async def remove(self, webhook: str, by: Person, source: str) -> None: ...

    async def test(self, webhook: str) -> WebhookDelivery: ...

    async def deliveries(self, webhook: str) -> list[WebhookDelivery]: ...

    async def resend(self, webhook: str, delivery: str) -> WebhookDelivery: ...


class WebhookRoutes:
    """The routes of webhooks."""

    def __init__(self, webhooks: WebhookDesk) -> None:
        self._webhooks = webhooks

    async def list_all(self, request: ApiRequest) -> Response:
        is_admin = may(request.principal.role, "admin")
        return answer(WebhooksSchema([_webhook(each, whole=is_admin) for each in await self._webhooks.list_all()]))

    async def add(self, request: ApiRequest) -> Response:
        wanted = NewWebhook(**asdict(request.body(AddedWebhook)))
        made, secret = await self._webhooks.add(wanted, request.desk.person, request.desk.source)
        return answer(MadeWebhook(_webhook(made), secret), 201)

    async def change(self, request: ApiRequest) -> Response:
        fields = {name: value for name, value in asdict(request.body(WebhookChange)).items() if value is not UNSET}
        desk = request.desk
        return answer(_webhook(await self._webhooks.change(request.path("id"), fields, desk.person, desk.source)))

    async def rotate(self, request: ApiRequest) -> Response:
        made, secret = await self._webhooks.rotate(request.path("id"), request.desk.person, request.desk.source)
        return answer(MadeWebhook(_webhook(made), secret))

    async def remove(self, request: ApiRequest) -> Response:
        await self._webhooks.remove(request.path("id"), request.desk.person, request.desk.source)
        return answer(Done())

    async def test(self, request: ApiRequest) -> Response:
        return answer(_delivery(await self._webhooks.test(request.path("id"))))

    async def deliveries(self, request: ApiRequest) -> Response:
        return answer(
            DeliveriesSchema([_delivery(each) for each in await self._webhooks.deliveries(request.path("id"))])
        )

    async def resend(self, request: ApiRequest) -> Response:
        return answer(_delivery(await self._webhooks.resend(request.path("id"), request.path("delivery"))))

    def routes(self) -> tuple[Route, ...]:
        one = "/api/webhooks/{id}"
        again = f"{one}/deliveries/{{delivery}}/resend"
        return (
            Route("GET", "/api/webhooks", "viewer", self.list_all, "List webhooks", returns=WebhooksSchema),
            Route(
                "POST",
                "/api/webhooks",
                "admin",
                self.add,
                "Add a webhook. Its secret is shown only once",
                AddedWebhook,
                MadeWebhook,
                201,
                largest=_LARGEST,
            ),
            Route(
                "PATCH",
                one,
                "admin",
                self.change,
                "Change a webhook, or turn it on or off",
                WebhookChange,
                WebhookSchema,
                largest=_LARGEST,
            ),
            Route("DELETE", one, "admin", self.remove, "Remove a webhook and its queue", returns=Done),
            Route("POST", f"{one}/secret", "admin", self.rotate, "Replace the secret", returns=MadeWebhook),
            Route("POST", f"{one}/test", "admin", self.test, "Send a test event", returns=DeliverySchema),
            Route(
                "GET",
                f"{one}/deliveries",
                "admin",
                self.deliveries,
                "List what was sent and what is queued",
                returns=DeliveriesSchema,
            ),
            Route("POST", again, "admin", self.resend, "Send an event again, with the same ID", returns=DeliverySchema),
        )


def _webhook(summary: WebhookSummary, *, whole: bool = True) -> WebhookSchema:
    webhook, health = summary.webhook, summary.health
    ends = [each.until for each in webhook.secrets if each.until is not None]
    return WebhookSchema(
        id=webhook.id,
        name=webhook.name,
        url=webhook.url if whole else urlsplit(webhook.url).hostname or "",
        events=webhook.events,
        projects=webhook.projects,
        content=webhook.content,
        state=summary.state,
        queued=summary.queued,
        created_at=webhook.created_at,
        created_by=webhook.created_by,
        last_sent_at=health.last_sent_at,
        failing_since=health.failing_since,
        trouble=health.trouble,
        old_secret_until=max(ends, default=None),
    )


def _delivery(delivery: WebhookDelivery) -> DeliverySchema:
    return DeliverySchema(
        id=delivery.id,
        event=delivery.event,
        at=delivery.at,
        state=delivery.state,
        tries=delivery.tries,
        next_at=delivery.next_at,
        about=delivery.about,
        body=delivery.body,
        attempts=delivery.attempts,
    )
