"""`handraise search`: what is found, and how it is shown."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from click.testing import CliRunner, Result

from api.served import Served, served
from handraise.cli.main import main
from handraise.model.items import ActionStarted, Content, Text
from handraise.model.sessions import Session
from handraise.store.changes import PublishItems, SaveSession
from surfaces.terminal.table import table

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def typed(hub: Served, *words: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, main, (*words, "--state", str(hub.state)))


async def add(hub: Served, identity: str, title: str, *contents: Content | str) -> None:
    session = Session(identity, None, "/work", f"claude-{identity}", title, NOW, NOW, "working")
    items: list[Content] = [Text(each, f"m_{identity}") if isinstance(each, str) else each for each in contents]
    await hub.up.hub.store.apply([SaveSession(session), *(PublishItems(identity, NOW, each) for each in items)])


async def test_results_are_listed_below_the_session_that_they_are_in(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        run = ActionStarted("t", "command", "npm run migrate", "Bash", {"command": "npm run migrate"})
        await add(hub, "s_1", "Move \x1b[31mthe database", "The Migration of the database is done.", run)
        await add(hub, "s_2", "Docs", "Nothing about it.", "A migration guide.\x1b]0;pwned\x07")
        found = await typed(hub, "search", "migrat")
        assert found.exit_code == 0
        rows = found.stdout.splitlines()
        assert [row for row in rows if row.startswith("s_")] == ["s_2  Docs", "s_1  Move ⟨U+001B⟩[31mthe database"]
        assert "Claude    A migration guide.⟨U+001B⟩]0;pwned⟨U+0007⟩" in rows[1]
        assert "action" in rows[4]
        assert "npm run migrate" in rows[4]
        assert "\x1b" not in found.output
        # Every word has to be there.
        both = await typed(hub, "search", "migration", "DATABASE")
        assert "s_1" in both.stdout
        assert "s_2" not in both.stdout
        inside = await typed(hub, "search", "-s", "Docs", "migration")
        assert "s_1" not in inside.stdout


async def test_a_script_gets_json_or_ids(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for number in range(3):
            await add(hub, f"s_{number}", f"Session {number}", "timeout one", "timeout two")
        found = [json.loads(row) for row in (await typed(hub, "search", "--json", "timeout")).stdout.splitlines()]
        assert len(found) == 6
        assert {"session", "at", "kind", "text", "cursor"} <= set(found[0])
        assert (await typed(hub, "search", "-q", "timeout")).stdout.split() == ["s_2", "s_1", "s_0"]
        few = await typed(hub, "search", "-n", "2", "timeout")
        assert few.stdout.count("timeout") == 2
        assert "The 2 newest results are shown. Use -n for more." in few.stderr
        more = await typed(hub, "search", "-n", "6", "timeout")
        assert "newest results" not in more.stderr


async def test_nothing_found_is_said_and_has_its_own_exit_code(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        none = await typed(hub, "search", "nowhere")
        assert (none.exit_code, none.stdout) == (1, "")
        assert "Nothing found." in none.stderr
        assert (await typed(hub, "search")).exit_code == 2
        assert (await typed(hub, "search", "--json", "-q", "x")).exit_code == 2
        assert (await typed(hub, "search", "-s", "s_none", "x")).exit_code == 1


async def test_results_fit_a_narrow_terminal(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session(title="Fix the tests and everything that goes with them")
        await laid.publish("Some words before the needle in this haystack, and a few more words after it. " * 3)
        for columns in (40, 100):
            async with laid.terminal("search", "needle", columns=columns, environment={"NO_COLOR": "1"}) as terminal:
                assert await terminal.end() == 0
                assert terminal.lines[0].startswith("s_1  Fix the tests")
                assert len(terminal.lines) == (3 if columns == 40 else 2)
                assert "needle" in terminal.screen
        async with laid.terminal("search", "needle") as terminal:
            assert await terminal.end() == 0
            assert b"\x1b[1mneedle\x1b[0m" in terminal.raw
