"""Devices over HTTP: browsers that are told of asks when the page is closed. Each person sees their own."""

from typing import Protocol

from starlette.responses import Response

from handraise.desk.gate import Visitor
from handraise.model.devices import Device, Subscription, Unusable
from handraise.surfaces.web import device_shapes as shapes
from handraise.surfaces.web.shapes import Done
from handraise.surfaces.web.visit import BadRequest, Visit, Way, answer

_LARGEST = 16 * 1024


class Bell(Protocol):
    """Whoever tells the devices."""

    @property
    def enabled(self) -> bool: ...

    async def key(self) -> str: ...

    async def devices(self, visitor: Visitor) -> list[Device]: ...

    async def add(self, wanted: Subscription, visitor: Visitor, source: str) -> Device: ...

    async def remove(self, device: str, visitor: Visitor, source: str) -> None: ...

    async def try_out(self, device: str, visitor: Visitor) -> str | None: ...

    async def closed(self, device: str, visitor: Visitor, ask: str) -> None: ...


class Devices:
    """The ways to a bell."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell

    async def look(self, _: Visit) -> Response:
        return answer(shapes.Push(self._bell.enabled, await self._bell.key() if self._bell.enabled else None))

    async def list_all(self, visit: Visit) -> Response:
        return answer(shapes.Devices([_device(each) for each in await self._bell.devices(visit.visitor)]))

    async def add(self, visit: Visit) -> Response:
        wanted = visit.body(shapes.NewDevice)
        origin = visit.request.headers.get("origin", "")
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
            device = await self._bell.add(subscription, visit.visitor, visit.desk.source)
        except Unusable as error:
            raise BadRequest(str(error), 422, "invalid") from error
        return answer(_device(device), 201)

    async def remove(self, visit: Visit) -> Response:
        await self._bell.remove(visit.path("id"), visit.visitor, visit.desk.source)
        return answer(Done())

    async def try_out(self, visit: Visit) -> Response:
        trouble = await self._bell.try_out(visit.path("id"), visit.visitor)
        return answer(shapes.Tried(trouble is None, trouble))

    async def closed(self, visit: Visit) -> Response:
        await self._bell.closed(visit.path("id"), visit.visitor, visit.body(shapes.ClosedNotice).ask)
        return answer(Done())

    def ways(self) -> tuple[Way, ...]:
        one = "/api/push/devices/{id}"
        return (
            Way("GET", "/api/push", "viewer", self.look, "What a browser needs to be switched on", gives=shapes.Push),
            Way("GET", "/api/push/devices", "viewer", self.list_all, "Your devices", gives=shapes.Devices),
            Way(
                "POST",
                "/api/push/devices",
                "viewer",
                self.add,
                "Switch one on; the same endpoint again brings it up to date",
                shapes.NewDevice,
                shapes.Device,
                201,
                largest=_LARGEST,
            ),
            Way("DELETE", one, "viewer", self.remove, "Tell one nothing more", gives=Done),
            Way("POST", f"{one}/test", "viewer", self.try_out, "Send one something to see", gives=shapes.Tried),
            Way(
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


def _device(device: Device) -> shapes.Device:
    return shapes.Device(device.id, device.label, device.kinds, device.created_at, device.last_sent_at, device.trouble)
