"""The first steps: whether Claude can work here, and hints that stay away once they are dismissed."""

import asyncio
from pathlib import Path
from typing import Any

from api.served import served


def program(tmp: Path, *, version: str = "2.1.325", logged_in: str = "true", more: str = "") -> Path:
    """Stands in for Claude Code's two commands that print something and exit."""
    made = tmp / "claude"
    made.write_text(
        f"""#!/bin/sh
        {more}
        case "$1" in
        --version) echo '{version} (Claude Code)' ;;
        auth) echo '{{"loggedIn": {logged_in}, "home": "'$HOME'"}}' ;;
        esac
        """
    )
    made.chmod(0o755)
    return made


async def look(tmp: Path, claude: Path, **settings: Any) -> dict[str, object]:
    async with served(tmp, program=claude, **settings) as hub, hub.client("admin") as client:
        answered = await client.get("/api/setup")
        assert answered.status_code == 200
        found: dict[str, object] = answered.json()
        return found


def checks(found: dict[str, object]) -> list[tuple[bool, str, str]]:
    listed = found["checks"]
    assert isinstance(listed, list)
    return [(each["ok"], each["sentence"], each["command"]) for each in listed]


async def test_a_claude_that_is_there_and_signed_in_is_ready(tmp_path: Path) -> None:
    found = await look(tmp_path, program(tmp_path), environment={"HOME": "/home/me", "PATH": "/bin"})
    assert found["ready"]
    assert found["home"] == "/home/me"
    assert checks(found) == [
        (True, "Claude Code 2.1.325 is installed", ""),
        (True, "Claude Code is signed in", ""),
    ]


async def test_who_is_not_signed_in_gets_the_exact_command(tmp_path: Path) -> None:
    claude = program(tmp_path, logged_in="false")
    found = await look(tmp_path, claude)
    assert not found["ready"]
    assert checks(found)[1] == (False, "Claude Code isn't signed in", f"{claude} auth login")


async def test_an_old_claude_gets_the_command_to_update_it(tmp_path: Path) -> None:
    claude = program(tmp_path, version="2.1.100")
    found = checks(await look(tmp_path, claude))
    assert not found[0][0]
    assert found[0][2] == f"{claude} update"


async def test_a_claude_that_does_not_say_is_no_obstacle(tmp_path: Path) -> None:
    found = await look(tmp_path, program(tmp_path, logged_in="maybe"))
    assert found["ready"]
    assert "doesn't say" in checks(found)[1][1]


async def test_no_claude_gets_the_command_to_install_it(tmp_path: Path) -> None:
    found = await look(tmp_path, tmp_path / "nothing")
    assert not found["ready"]
    assert [(ok, bool(command)) for ok, _, command in checks(found)] == [(False, True)]


async def test_a_gateway_needs_no_claude(tmp_path: Path) -> None:
    assert (await look(tmp_path, tmp_path / "nothing", limit=0))["ready"]


async def test_a_hint_that_was_dismissed_stays_away_in_every_browser(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.browser() as browser, hub.browser() as another:
        assert (await browser.get("/api/hints")).json() == {"hints": ["terminal", "phone", "telegram"]}
        gone = await asyncio.gather(browser.delete("/api/hints/phone"), another.delete("/api/hints/telegram"))
        assert [each.status_code for each in gone] == [200, 200]
        assert (await another.get("/api/hints")).json() == {"hints": ["terminal"]}
        assert (await browser.delete("/api/hints/nonsense")).status_code == 404
    async with served(tmp_path) as hub, hub.browser() as browser, hub.client("viewer") as viewer:
        assert (await browser.get("/api/hints")).json() == {"hints": ["terminal"]}
        # Somebody else has their own, without what only an admin can do.
        assert (await viewer.get("/api/hints")).json() == {"hints": ["phone"]}


async def test_a_hint_that_was_followed_goes_away(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.browser() as browser:
        await browser.delete("/api/hook-offer")
        assert (await browser.get("/api/hints")).json() == {"hints": ["phone", "telegram"]}
