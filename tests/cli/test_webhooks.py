"""`handraise webhooks`: added, tested, looked at and removed from a terminal."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from api.served import Served, served
from cli.test_commands import typed
from handraise.cli.webhooks import EVENTS
from handraise.model import webhooks
from handraise.model.projects import Project
from handraise.store.changes import SaveProject
from surfaces.webhooks.hooked import PRIVATE, raised
from surfaces.webhooks.receiver import Receiver, receiver, status


@pytest.fixture
async def there() -> AsyncIterator[Receiver]:
    async with receiver() as made:
        yield made


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, webhooks=PRIVATE) as up:
        await up.up.hub.store.apply([SaveProject(Project("p_1", "shop", "/work/shop"))])
        yield up


def test_the_events_are_those_of_the_hub() -> None:
    assert EVENTS == webhooks.EVENTS


async def test_a_webhook_is_added_and_its_secret_is_all_that_stdout_gets(hub: Served, there: Receiver) -> None:
    done = await typed(hub, "webhooks", "add", there.url(), "--event", "ask.opened", "--project", "shop", "--content")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip().startswith("whsec_")
    (listed,) = [json.loads(row) for row in (await typed(hub, "webhooks", "--json")).output.splitlines()]
    assert (listed["events"], listed["projects"], listed["content"]) == (["ask.opened"], ["p_1"], True)
    assert listed["name"] == urlsplit(there.url()).netloc
    row = (await typed(hub, "webhooks", "list")).output
    assert all(part in row for part in (listed["id"], "on", "ask.opened", "with content"))
    assert "whsec_" not in row


async def test_a_test_prints_what_came_back(hub: Served, there: Receiver) -> None:
    await typed(hub, "webhooks", "add", there.url(), "--name", "chat")
    done = await typed(hub, "webhooks", "test", "chat")
    assert (done.exit_code, done.output.startswith("Accepted (204) after ")) == (0, True)
    there.replies.append(status(500, b"out of \x1b[31m order"))
    failed = await typed(hub, "webhooks", "test", "chat")
    assert failed.exit_code == 1
    assert "The response was 500." in failed.output
    assert "\x1b" not in failed.output


async def test_what_was_sent_is_listed_and_can_be_sent_again(hub: Served, there: Receiver) -> None:
    assert "Nothing was sent yet." not in (await typed(hub, "webhooks", "list")).output
    await typed(hub, "webhooks", "add", there.url(), "--name", "chat")
    assert "Nothing was sent yet." in (await typed(hub, "webhooks", "deliveries", "chat")).output
    ask = await raised(hub)
    await there.until_about(("ask.opened", ask.id))
    sent = json.loads((await typed(hub, "webhooks", "deliveries", "chat", "--json")).output)
    row = (await typed(hub, "webhooks", "deliveries", "chat")).output
    assert all(part in row for part in (sent["id"], "ask.opened", ask.id))
    again = await typed(hub, "webhooks", "resend", "chat", sent["id"])
    assert again.exit_code == 0, again.output
    assert [each.id for each in there.received] == [sent["id"]] * 2
    assert (await typed(hub, "webhooks", "resend", "chat", "msg_none")).exit_code == 1


async def test_it_is_turned_off_and_on_rotated_and_removed(hub: Served, there: Receiver) -> None:
    await typed(hub, "webhooks", "add", there.url(), "--name", "chat")
    assert (await typed(hub, "webhooks", "disable", "chat")).exit_code == 0
    assert json.loads((await typed(hub, "webhooks", "--json")).output)["state"] == "off"
    assert (await typed(hub, "webhooks", "enable", "chat")).exit_code == 0
    assert (await typed(hub, "webhooks", "rotate", "chat")).stdout.startswith("whsec_")
    assert (await typed(hub, "webhooks", "remove", "chat")).exit_code == 2, "nobody can be asked"
    assert (await typed(hub, "webhooks", "remove", "chat", "--yes")).exit_code == 0
    assert "No webhooks yet." in (await typed(hub, "webhooks")).output


async def test_a_name_that_is_unknown_or_not_the_only_one(hub: Served, there: Receiver) -> None:
    assert "There is no webhook 'chat'." in (await typed(hub, "webhooks", "test", "chat")).output
    for _ in range(2):
        await typed(hub, "webhooks", "add", there.url(), "--name", "chat")
    done = await typed(hub, "webhooks", "test", "chat")
    assert (done.exit_code, "matches 2 webhooks" in done.output) == (2, True)
    assert (await typed(hub, "webhooks", "add", "ftp://x/")).exit_code == 1
