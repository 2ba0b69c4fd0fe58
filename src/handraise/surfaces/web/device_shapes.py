"""The shapes of push over HTTP: devices, and what they are told of."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from handraise.model.devices import NoticeKind
from handraise.surfaces.web.shapes import Name


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
