"""Checks a channel: whether its server can be reached, its certificate is trusted, and the sign-in is accepted.

Sends no message, so what only a message shows is left open. Each check has the channel's own deadline.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from handraise.client.connection import HttpClient, RequestFailed
from handraise.doctor.checks import Finding
from handraise.model.names import reveal
from handraise.texts import t

_NAME = "channel"
_PATH = "/api/notifications/channels"


async def check_channels(state: Path) -> list[Finding]:
    """Every channel of the running hub, which has their secrets; nothing if it doesn't answer."""
    try:
        async with HttpClient(state / "hub.sock", {}) as http:
            listed = await http.request("GET", f"{_PATH}")
            channels = msgspec.json.decode(listed.body, type=_Channels).channels
            return [await _probed(http, each) for each in channels]
    except (RequestFailed, OSError, msgspec.MsgspecError):
        return []


async def _probed(http: HttpClient, channel: "_Channel") -> Finding:
    response = await http.request("POST", f"{_PATH}/{channel.id}/probe", content=b"{}")
    probed = msgspec.json.decode(response.body, type=_Probed)
    return Finding(_NAME, "ok" if probed.ok else "fail", _named(channel.name, probed.detail))


class _Channel(Struct, frozen=True):
    id: str
    name: str


class _Channels(Struct, frozen=True):
    channels: list[_Channel]


class _Probed(Struct, frozen=True):
    ok: bool
    detail: str


def _named(name: str, sentence: str) -> str:
    return t("doctor.channel.named", name=reveal(name), sentence=sentence)
