"""`attach` without a session: the one that runs, or a list to choose from."""

from pathlib import Path

from surfaces.terminal.pseudo import CTRL_D, ENTER
from surfaces.terminal.table import table


async def test_attach_follows_what_runs_or_offers_a_list(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        async with laid.terminal("attach") as terminal:
            assert await terminal.end() == 1
            assert 'No sessions yet. Start one with: handraise run "…"' in terminal.screen
        await laid.session("s_aaaa", "The first")
        await laid.session("s_over", "Long over", phase="ended")
        async with laid.terminal("attach") as terminal:
            await terminal.until("Ctrl-D to leave")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0
            assert "Come back with: handraise attach s_aaaa" in terminal.everything
        await laid.session("s_bbbb", "The second \x1b[31mone")
        async with laid.terminal("attach") as terminal:
            await terminal.until(" 1  s_", " 2  s_", "The second ⟨U+001B⟩[31mone", "Which session? [1]:")
            terminal.type("9", ENTER)
            await terminal.until("9 is not in the range")
            chosen = next(row.split()[1] for row in terminal.lines if row.startswith(" 2  "))
            terminal.type("2", ENTER)
            await terminal.until("Ctrl-D to leave")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0
            assert f"Come back with: handraise attach {chosen}" in terminal.everything
            assert "Long over" not in terminal.everything


async def test_ps_has_headers_in_a_terminal_and_fits_it(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session("s_0123456789abcdef", "Fix the tests of the shop, all of them", cost_usd=0.25)
        async with laid.terminal("ps") as terminal:
            assert await terminal.end() == 0
            header, row = terminal.lines
            assert header.split() == ["ID", "STATE", "CHANGED", "COST", "TITLE"]
            assert header.index("TITLE") == row.index("Fix")
        async with laid.terminal("ps", columns=50) as terminal:
            assert await terminal.end() == 0
            assert terminal.lines[0].split() == ["ID", "STATE", "TITLE"]
            assert terminal.lines[1].endswith("…")
        async with laid.terminal("ps", "--wide", columns=50) as terminal:
            assert await terminal.end() == 0
            assert "all of them" in "".join(terminal.lines)
