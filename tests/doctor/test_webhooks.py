"""Webhooks in `handraise doctor`: those that fail are named, with the next step."""

import re
import shlex
from pathlib import Path

import pytest

from api.served import Served, served
from cli.test_commands import typed
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
                    "Fix the receiver, then run `handraise webhooks test chat`.",
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
                    "If it is back, run `handraise webhooks enable chat`. If not, remove the webhook.",
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


async def followed(hub: Served, finding: Finding) -> None:
    """Does literally what it says."""
    (command,) = re.findall(r"`handraise ([^`]+)`", finding.advice)
    done = await typed(hub, *shlex.split(command))
    assert done.exit_code == 0, done.output


async def test_its_advice_works(tmp_path: Path) -> None:
    async with receiver() as there, served(tmp_path, webhooks=PRIVATE) as hub, hub.client("admin") as client:
        webhook, _ = await add(client, there.url(), name="my chat")
        for code in (500, 410):
            there.replies.append(status(code))
            await client.post(f"/api/webhooks/{webhook}/test")
            (finding,) = await check_webhooks(hub.state)
            await followed(hub, finding)
            await typed(hub, "webhooks", "test", "my chat")
            assert await check_webhooks(hub.state) == [Finding("webhooks", "ok", "1 webhook works.")]


async def test_no_hub_is_no_finding(tmp_path: Path) -> None:
    assert await check_webhooks(tmp_path) == []
