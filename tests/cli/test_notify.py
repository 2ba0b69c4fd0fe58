"""Notifications on the command line."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.served import Served, served
from channels.ntfy_server import NtfyServer, ntfy_server
from cli.test_commands import typed
from handraise.model.asks import Permission
from handraise.reach.situation import ReachConfig

NPM = Permission("Bash", {"command": "npm test"})


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, notifications=ReachConfig(private_addresses=True)) as up:
        yield up


async def objects(hub: Served, *words: str) -> list[dict[str, Any]]:
    return [json.loads(row) for row in (await typed(hub, *words, "--json")).output.splitlines()]


async def test_a_channel_is_added_tested_and_removed(hub: Served) -> None:
    async with ntfy_server(NtfyServer()) as ntfy:
        server = f"server=http://127.0.0.1:{ntfy.port}"
        none = await typed(hub, "notify")
        assert "handraise notify add NAME ntfy topic=TOPIC" in none.output
        added = await typed(hub, "notify", "add", "phone", "ntfy", server, "topic=shop")
        assert added.output.startswith("Added phone: ")
        assert "not used yet" in (await typed(hub, "notify", "list")).output
        tested = await typed(hub, "notify", "test", "phone")
        assert (tested.exit_code, tested.output) == (0, "Sent a test to phone.\n")
        assert ntfy.published[0]["title"] == "Handraise can reach you here."
        ntfy.token = "tk_now_needed"
        refused = await typed(hub, "notify", "test", "phone")
        assert refused.exit_code != 0
        assert "works" not in (await typed(hub, "notify", "list")).output
        assert (await typed(hub, "notify", "remove", "phone", "--yes")).exit_code == 0
        assert await objects(hub, "notify", "list") == []
        assert "There is no channel 'phone'." in (await typed(hub, "notify", "test", "phone")).output


async def test_wrong_fields_are_a_sentence(hub: Served) -> None:
    wrong = await typed(hub, "notify", "add", "phone", "ntfy", "topic")
    assert "write a field as NAME=VALUE" in wrong.output
    missing = await typed(hub, "notify", "add", "phone", "ntfy")
    assert missing.exit_code != 0
    assert "Traceback" not in missing.output


async def test_a_chain_is_set_shown_and_reset(hub: Served) -> None:
    await typed(hub, "notify", "add", "phone", "ntfy", "topic=shop")
    assert (await typed(hub, "notify", "chain", "show")).output.startswith("At once:\n")
    steps = ("0: screens", "2m: phone", "1h: person ben")
    assert (await typed(hub, "notify", "chain", "set", *steps)).output == ""
    shown = (await typed(hub, "notify", "chain", "show")).output
    assert shown == (
        "At once:\n  shown to people who are looking\n"
        "After 2 min:\n  phone (owner)\n"
        "After 1 h:\n  no one: not sent. No one to notify\n"
    )
    unknown = await typed(hub, "notify", "chain", "set", "5m: pager")
    assert "There is no target 'pager'." in unknown.output
    assert "isn't a time" in (await typed(hub, "notify", "chain", "set", "soon: phone")).output
    await typed(hub, "notify", "chain", "reset")
    assert "After" not in (await typed(hub, "notify", "chain", "show")).output


async def test_quiet_hours_are_set_and_removed(hub: Served) -> None:
    assert (await typed(hub, "notify", "quiet")).output == "No quiet hours.\n"
    assert "--zone" in (await typed(hub, "notify", "quiet", "22:00-07:00")).output
    expected = "22:00-07:00 Europe/Berlin; urgent requests get through\n"
    assert (await typed(hub, "notify", "quiet", "22:00-07:00", "--zone", "Europe/Berlin")).output == expected
    changed = await typed(hub, "notify", "quiet", "23:00-06:30", "--strict")
    assert changed.output == "23:00-06:30 Europe/Berlin; nothing gets through\n"
    assert (await typed(hub, "notify", "quiet", "off")).output == "No quiet hours.\n"


async def test_a_session_is_muted_and_unmuted(hub: Served) -> None:
    session = await hub.session(phase="idle")
    muted = await typed(hub, "notify", "mute", session.id, "--for", "2h")
    assert "handraise notify unmute" in muted.output
    [mute] = await objects(hub, "notify", "mutes")
    assert (mute["session"], mute["for_everyone"]) == (session.id, False)
    assert (await typed(hub, "notify", "unmute", mute["id"])).exit_code == 0
    assert await objects(hub, "notify", "mutes") == []
    assert "Name a session" in (await typed(hub, "notify", "mute")).output


async def test_the_log_and_the_numbers_say_what_was_sent(hub: Served) -> None:
    assert "Nothing was sent yet." in (await typed(hub, "notify", "log")).output
    ask = await hub.ask(NPM, session=(await hub.session(phase="idle")).id)
    assert (await typed(hub, "notify", "log", ask.id)).output.startswith(f"{ask.id}  permission")
    [numbers] = await objects(hub, "notify", "stats")
    assert (numbers["asks"], numbers["open"]) == (1, 1)
    assert "1 requests" not in (await typed(hub, "notify", "stats")).output
