"""`handraise diff`: what a session changed, for people and for programs."""

import asyncio
import json
import subprocess
from pathlib import Path

from click.testing import CliRunner, Result

from api.served import Served, served
from api.test_changes import repository
from handraise.cli.main import main


async def typed(hub: Served, *words: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, main, ["diff", *words, "--state", str(hub.state)])


async def test_the_changes_of_a_session_are_printed(tmp_path: Path) -> None:
    top = repository(tmp_path / "work")
    async with served(tmp_path / "hub") as hub:
        session = (await hub.session(directory=str(top))).id
        assert (await typed(hub, session)).output == ""
        (top / "a.py").write_text("one\n\ttwo \x1b[31m\n")
        (top / "new.txt").write_text("".join(f"{number}\n" for number in range(7_000)))
        (top / "data").write_bytes(b"\0")

        listed = (await typed(hub, session, "--stat")).output
        assert listed == "modified  a.py  +1 -0\nadded     data\nadded     new.txt  +7000 -0\n"
        one = (await typed(hub, session, "a.py", "data")).output
        assert one == (
            "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n one\n+\ttwo ⟨U+001B⟩[31m\n"
            "--- /dev/null\n+++ b/data\nBinary file, not shown.\n"
        )
        long = (await typed(hub, session, "new.txt")).output.splitlines()
        assert len(long) == 2 + 1 + 7_000
        assert long[-1] == "+6999"
        files = [json.loads(line) for line in (await typed(hub, session, "--json")).output.splitlines()]
        assert [each["path"] for each in files] == ["a.py", "data", "new.txt"]


async def test_what_it_prints_can_be_applied(tmp_path: Path) -> None:
    top = repository(tmp_path / "work")
    async with served(tmp_path / "hub") as hub:
        session = (await hub.session(directory=str(top))).id
        (top / "a.py").write_text("one\nmore\n")
        (top / "b.py").write_text("new\n")
        patch = (await typed(hub, session)).output
    other = repository(tmp_path / "other")
    subprocess.run(["git", "apply", "-"], cwd=other, input=patch, text=True, check=True, timeout=60)
    assert (other / "a.py").read_text() == "one\nmore\n"
    assert (other / "b.py").read_text() == "new\n"


async def test_what_cannot_be_shown_is_a_sentence_and_a_code(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    async with served(tmp_path / "hub") as hub:
        plain = await typed(hub, (await hub.session(directory=str(tmp_path / "plain"))).id)
        assert (plain.exit_code, plain.output) == (4, "handraise: This session's directory isn't a Git repository.\n")
        away = await typed(hub, (await hub.session(machine="m_away")).id)
        assert away.exit_code == 4
        assert "Machine `m_away` is away." in away.output
        known = (await hub.session(directory=str(repository(tmp_path / "work")))).id
        missing = await typed(hub, known, "none.py")
        assert missing.exit_code == 2
        assert "No changes in 'none.py'." in missing.output
        assert (await typed(hub, "s_none")).exit_code == 1
