"""Checks the webhooks of the running hub: those that fail, and those that their receivers turned off."""

import asyncio
import shlex
from pathlib import Path

import msgspec
from msgspec import Struct

from handraise.client.connection import HttpClient, RequestFailed
from handraise.doctor.checks import Finding
from handraise.model.names import reveal
from handraise.texts import t

_NAME = "webhooks"
_SECONDS = 5.0


class SeenWebhook(Struct, frozen=True):
    """What a check needs of a webhook."""

    name: str
    state: str
    queued: int = 0
    trouble: str = ""


class _Seen(Struct, frozen=True):
    webhooks: list[SeenWebhook] = []


async def check_webhooks(state: Path) -> list[Finding]:
    """A finding for each one that doesn't work; nothing if there are none, or the hub doesn't say."""
    try:
        async with asyncio.timeout(_SECONDS), HttpClient(state / "hub.sock", {}) as http:
            response = await http.request("GET", "/api/webhooks")
            seen = msgspec.json.decode(response.body, type=_Seen).webhooks
    except (RequestFailed, TimeoutError, OSError, msgspec.MsgspecError):
        return []
    return findings_of(seen)


def findings_of(seen: list[SeenWebhook]) -> list[Finding]:
    """What to say about them."""
    found = [finding for each in seen if (finding := _finding(each)) is not None]
    working = sum(each.state == "on" for each in seen)
    return [*([Finding(_NAME, "ok", t("doctor.webhooks.working", count=working))] if working else []), *found]


def _finding(webhook: SeenWebhook) -> Finding | None:
    name, trouble = reveal(webhook.name), reveal(webhook.trouble)
    word = shlex.quote(name)
    match webhook.state:
        case "failing":
            sentence = t("doctor.webhooks.failing", name=name, trouble=trouble, count=webhook.queued)
            return Finding(_NAME, "warn", sentence, t("doctor.webhooks.fix", command=f"handraise webhooks test {word}"))
        case "gone":
            command = f"handraise webhooks enable {word}"
            return Finding(
                _NAME, "warn", t("doctor.webhooks.gone", name=name), t("doctor.webhooks.turn_on", command=command)
            )
        case _:
            return None
