"""Devices over HTTP: browsers that are told of asks when the page is closed. Each person sees their own."""

from typing import Protocol

from starlette.responses import Response

from handraise.desk.gate import Principal
from handraise.model.devices import Device, Subscription, Unusable
from handraise.surfaces.web import device_shapes as shapes
from handraise.surfaces.web.shapes import Done
from handraise.surfaces.web.visit import ApiRequest, BadRequest, Route, answer

_LARGEST = 16 * 1024


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
        return answer(
            shapes.Push(self._notifier.enabled, await self._notifier.key() if self._notifier.enabled else None)
        )

    async def list_all(self, request: ApiRequest) -> Response:
        return answer(shapes.DevicesSchema([_device(each) for each in await self._notifier.devices(request.principal)]))

    async def add(self, request: ApiRequest) -> Response:
        wanted = request.body(shapes.NewDevice)
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
        return answer(shapes.Tried(trouble is None, trouble))

    async def closed(self, request: ApiRequest) -> Response:
        await self._notifier.closed(request.path("id"), request.principal, request.body(shapes.ClosedNotice).ask)
        return answer(Done())

    def routes(self) -> tuple[Route, ...]:
        one = "/api/push/devices/{id}"
        return (
            Route(
                "GET", "/api/push", "viewer", self.look, "What a browser needs to be switched on", returns=shapes.Push
            ),
            Route("GET", "/api/push/devices", "viewer", self.list_all, "Your devices", returns=shapes.DevicesSchema),
            Route(
                "POST",
                "/api/push/devices",
                "viewer",
                self.add,
                "Switch one on; the same endpoint again brings it up to date",
                shapes.NewDevice,
                shapes.DeviceSchema,
                201,
                largest=_LARGEST,
            ),
            Route("DELETE", one, "viewer", self.remove, "Tell one nothing more", returns=Done),
            Route("POST", f"{one}/test", "viewer", self.try_out, "Send one something to see", returns=shapes.Tried),
            Route(
                "POST",
                f"{one}/closed",
                "viewer",
                self.closed,
                "It shows this ask no longer",
                shapes.ClosedNotice,
                Done,
                largest=_LARGEST,
            ),
        )


def _device(device: Device) -> shapes.DeviceSchema:
    return shapes.DeviceSchema(
        device.id, device.label, device.kinds, device.created_at, device.last_sent_at, device.trouble
    )
