"""Devices over HTTP: browsers that get notifications while the page is closed; and their shapes."""

from datetime import datetime
from typing import Annotated, Protocol

from msgspec import Meta, Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, BadRequest, Route, answer
from handraise.api.schemas import Done, Name
from handraise.auth.auth import Principal
from handraise.model.devices import Device, NoticeKind, Subscription, Unusable

_LARGEST = 16 * 1024


class Push(Struct, frozen=True):
    """Whether devices are told at all, and the key that browsers bind themselves to (`applicationServerKey`)."""

    enabled: bool
    key: str | None


class DeviceKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """As `PushSubscription.toJSON()` has them, in base64url."""

    p256dh: Annotated[str, Meta(max_length=200)]
    auth: Annotated[str, Meta(max_length=100)]


class NewDevice(Struct, frozen=True, forbid_unknown_fields=True):
    """A browser that is to be told; `replaces` is the endpoint that it had, `made_for` the key it has of the hub."""

    endpoint: Annotated[str, Meta(max_length=2048)]
    keys: DeviceKeys
    label: Name
    kinds: tuple[NoticeKind, ...] | None = None
    """What it is told of; without it everything, or what it was told of before."""
    made_for: Annotated[str, Meta(max_length=200)] | None = None
    replaces: Annotated[str, Meta(max_length=2048)] | None = None


class DeviceSchema(Struct, frozen=True):
    """A browser that is told; `trouble` is why the last message could not be sent."""

    id: str
    label: str
    kinds: tuple[NoticeKind, ...]
    created_at: datetime
    last_sent_at: datetime | None
    trouble: str | None


class DevicesSchema(Struct, frozen=True):
    """Your own, oldest first."""

    devices: list[DeviceSchema]


class Tried(Struct, frozen=True):
    """Whether its push service took it, and why not."""

    sent: bool
    trouble: str | None


class ClosedNotice(Struct, frozen=True, forbid_unknown_fields=True):
    """The ask that a device no longer shows."""

    ask: Annotated[str, Meta(max_length=200)]


class DeviceNotifier(Protocol):
    """Whoever tells the devices."""

    @property
    def enabled(self) -> bool: ...

    async def key(self) -> str: ...

    async def devices(self, principal: Principal) -> list[Device]: ...

    async def add(self, wanted: Subscription, principal: Principal, source: str) -> Device: ...

    async def remove(self, device: str, principal: Principal, source: str) -> None: ...

    async def try_out(self, device: str, principal: Principal) -> str | None: ...

    async def closed(self, device: str, principal: Principal, ask: str) -> None: ...


class DeviceRoutes:
    """The ways to a bell."""

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
            Route("GET", "/api/push", "viewer", self.look, "What a browser needs to be switched on", returns=Push),
            Route("GET", "/api/push/devices", "viewer", self.list_all, "Your devices", returns=DevicesSchema),
            Route(
                "POST",
                "/api/push/devices",
                "viewer",
                self.add,
                "Switch one on; the same endpoint again brings it up to date",
                NewDevice,
                DeviceSchema,
                201,
                largest=_LARGEST,
            ),
            Route("DELETE", one, "viewer", self.remove, "Tell one nothing more", returns=Done),
            Route("POST", f"{one}/test", "viewer", self.try_out, "Send one something to see", returns=Tried),
            Route(
                "POST",
                f"{one}/closed",
                "viewer",
                self.closed,
                "It shows this ask no longer",
                ClosedNotice,
                Done,
                largest=_LARGEST,
            ),
        )


def _device(device: Device) -> DeviceSchema:
    return DeviceSchema(device.id, device.label, device.kinds, device.created_at, device.last_sent_at, device.trouble)
