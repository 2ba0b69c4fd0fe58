"""Webhooks in `handraise doctor`: those that fail are named, with the next step."""

from pathlib import Path

import pytest

from api.served import served
from handraise.doctor.checks import Finding
from handraise.doctor.webhooks import SeenWebhook, check_webhooks, findings_of
from surfaces.webhooks.hooked import PRIVATE, add
from surfaces.webhooks.receiver import receiver, status


@pytest.mark.parametrize(
    ("seen", "findings"),
    [
        ([], []),
        ([SeenWebhook("chat", "on"), SeenWebhook("x", "off")], [Finding("webhooks", "ok", "1 webhook works.")]),
        (
            [SeenWebhook("chat", "failing", 3, "The response was 500.")],
            [
                Finding(
                    "webhooks",
                    "warn",
                    "The webhook chat is failing (3 events queued): The response was 500.",
                    "See what was sent: handraise webhooks deliveries NAME",
                )
            ],
        ),
        (
            [SeenWebhook("chat", "gone")],
            [
                Finding(
                    "webhooks",
                    "warn",
                    "The webhook chat was turned off, because its receiver answered 410 (gone).",
                    "Run `handraise webhooks enable NAME` if it is back, or `handraise webhooks remove NAME`.",
                )
            ],
        ),
    ],
)
def test_what_is_said_about_webhooks(seen: list[SeenWebhook], findings: list[Finding]) -> None:
    assert findings_of(seen) == findings


async def test_the_running_hub_is_asked(tmp_path: Path) -> None:
    async with receiver() as there, served(tmp_path, webhooks=PRIVATE) as hub, hub.client("admin") as client:
        assert await check_webhooks(hub.state) == []
        webhook, _ = await add(client, there.url())
        there.replies.append(status(500))
        await client.post(f"/api/webhooks/{webhook}/test")
        (finding,) = await check_webhooks(hub.state)
        assert (finding.verdict, "The response was 500." in finding.sentence) == ("warn", True)


async def test_no_hub_is_no_finding(tmp_path: Path) -> None:
    assert await check_webhooks(tmp_path) == []
