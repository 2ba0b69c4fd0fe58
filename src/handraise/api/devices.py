"""Devices over HTTP: browsers that get notifications while the page is closed; and their types."""

from datetime import datetime
from typing import Annotated, Protocol

from msgspec import Meta, Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, BadRequest, Route, answer
from handraise.api.schemas import Done, Name
from handraise.auth import Principal
from handraise.model.devices import Device, NoticeKind, Subscription, Unusable

_LARGEST = 16 * 1024


class Push(Struct, frozen=True):
    """Whether push is on, and the public key for browsers (`applicationServerKey`)."""

    enabled: bool
    key: str | None


class DeviceKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """As `PushSubscription.toJSON()` has them, in base64url."""

    p256dh: Annotated[str, Meta(max_length=200)]
    auth: Annotated[str, Meta(max_length=100)]


class NewDevice(Struct, frozen=True, forbid_unknown_fields=True):
    """A browser that wants notifications. `replaces`: its previous endpoint; `made_for`: the hub's key that it used."""

    endpoint: Annotated[str, Meta(max_length=2048)]
    keys: DeviceKeys
    label: Name
    kinds: tuple[NoticeKind, ...] | None = None
    """What it is notified of. Default: everything, or the same as before."""
    made_for: Annotated[str, Meta(max_length=200)] | None = None
    replaces: Annotated[str, Meta(max_length=2048)] | None = None


class DeviceSchema(Struct, frozen=True):
    """A browser that gets notifications. `trouble`: why the last one failed."""

    id: str
    label: str
    kinds: tuple[NoticeKind, ...]
    created_at: datetime
    last_sent_at: datetime | None
    trouble: str | None


class DevicesSchema(Struct, frozen=True):
    """Your devices, oldest first."""

    devices: list[DeviceSchema]


class Tried(Struct, frozen=True):
    """Whether its push service accepted the notification, or why not."""

    sent: bool
    trouble: str | None


class ClosedNotice(Struct, frozen=True, forbid_unknown_fields=True):
    """An ask that a device no longer shows."""

    ask: Annotated[str, Meta(max_length=200)]


class DeviceNotifier(Protocol):
    """Sends notifications to devices."""

    @property
    def enabled(self) -> bool: ...

    async def key(self) -> str: ...

    async def devices(self, principal: Principal) -> list[Device]: ...

    async def add(self, wanted: Subscription, principal: Principal, source: str) -> Device: ...

    async def remove(self, device: str, principal: Principal, source: str) -> None: ...

    async def try_out(self, device: str, principal: Principal) -> str | None: ...

    async def closed(self, device: str, principal: Principal, ask: str) -> None: ...


class DeviceRoutes:
    """The routes of devices."""

    def __init__(self, notifier: DeviceNotifier) -> None:
        self._notifier = notifier

    async def look(self, _: ApiRequest) -> Response:
        return answer(Push(self._notifier.enabled, await self._notifier.key() if self._notifier.enabled else None))

    async def list_all(self, request: ApiRequest) -> Response:
        return answer(DevicesSchema([_device(each) for each in await self._notifier.devices(request.principal)]))

    async def add(self, request: ApiRequest) -> Response:
        wanted = request.body(NewDevice)
        origin = request.http.headers.get("origin", "")
        subscription = Subscription(
            endpoint=wanted.endpoint,
            key=wanted.keys.p256dh,
            secret=wanted.keys.auth,
            label=wanted.label.strip() or "A browser",
            kinds=wanted.kinds and tuple(dict.fromkeys(wanted.kinds)),
            made_for=wanted.made_for,
            replaces=wanted.replaces,
            origin=origin if origin.startswith("https://") else None,
        )
        try:
            device = await self._notifier.add(subscription, request.principal, request.desk.source)
        except Unusable as error:
            raise BadRequest(str(error), 422, "invalid") from error
        return answer(_device(device), 201)

    async def remove(self, request: ApiRequest) -> Response:
        await self._notifier.remove(request.path("id"), request.principal, request.desk.source)
        return answer(Done())

    async def try_out(self, request: ApiRequest) -> Response:
        trouble = await self._notifier.try_out(request.path("id"), request.principal)
        return answer(Tried(trouble is None, trouble))

    async def closed(self, request: ApiRequest) -> Response:
        await self._notifier.closed(request.path("id"), request.principal, request.body(ClosedNotice).ask)
        return answer(Done())

    def routes(self) -> tuple[Route, ...]:
        one = "/api/push/devices/{id}"
        return (
            Route("GET", "/api/push", "viewer", self.look, "Get what a browser needs to subscribe", returns=Push),
            Route("GET", "/api/push/devices", "viewer", self.list_all, "List your devices", returns=DevicesSchema),
            Route(
                "POST",
                "/api/push/devices",
                "viewer",
                self.add,
                "Turn a device on. The same endpoint again updates it",
                NewDevice,
                DeviceSchema,
                201,
                largest=_LARGEST,
            ),
            Route("DELETE", one, "viewer", self.remove, "Turn a device off", returns=Done),
            Route("POST", f"{one}/test", "viewer", self.try_out, "Send a test notification", returns=Tried),
            Route(
                "POST",
                f"{one}/closed",
                "viewer",
                self.closed,
                "Report that a device no longer shows an ask",
                ClosedNotice,
                Done,
                largest=_LARGEST,
            ),
        )


def _device(device: Device) -> DeviceSchema:
    return DeviceSchema(device.id, device.label, device.kinds, device.created_at, device.last_sent_at, device.trouble)
