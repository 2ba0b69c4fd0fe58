"""What a person names: sessions by prefix and title, requests by prefix, projects by anything."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.served import Served, served
from handraise.cli.main import main
from handraise.cli.places import MODES
from handraise.cli.ps import formatted
from handraise.model import projects
from handraise.model.asks import Form, Option, Permission, Prompt, Question
from handraise.model.sessions import Session
from handraise.store.changes import SaveSession

LS = Permission("Bash", {"command": "ls"})
TWO = Question(
    (
        Prompt("Which?", "", (Option("SQLite"), Option("Postgres"))),
        Prompt("How many?", "", (Option("3"), Option("30")), multi_select=True),
    )
)


async def typed(hub: Served, *words: str, stdin: str | None = None) -> Result:
    words = (*words, "--state", str(hub.state))
    return await asyncio.to_thread(CliRunner().invoke, main, words, stdin)


async def add(hub: Served, identity: str, title: str, phase: str = "working", directory: str = "/work") -> None:
    now = datetime.now(UTC)
    session = Session(identity, None, directory, f"claude-{identity}", title, now, now, phase)  # type: ignore[arg-type]
    await hub.up.hub.store.apply([SaveSession(session)])


def test_the_modes_that_are_offered_are_those_that_exist() -> None:
    assert MODES == projects.MODES


async def test_a_session_is_named_by_a_prefix_or_its_title_and_several_matches_are_listed(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        await add(hub, "s_abc1111111111111", "Fix the tests")
        await add(hub, "s_abc2222222222222", "Fix the \x1b[31mdocs")
        await add(hub, "s_xyz3333333333333", "s_abc1", "ended")
        for name in ("s_abc1111111111111", "abc11", "fix the tests", "Fix the t"):
            shown = await typed(hub, "show", name)
            assert "s_abc1111111111111" in shown.output, name
        # A title that looks like another session's ID doesn't take its place.
        assert "s_abc1111111111111" in (await typed(hub, "show", "s_abc1")).output
        several = await typed(hub, "stop", "s_abc")
        assert several.exit_code == 2
        assert "'s_abc' matches 2 sessions" in several.output
        assert "s_abc2222222222222  Fix the ⟨U+001B⟩[31mdocs" in several.output
        for name in ("a", "1", "s_", "", "s_nothing", "../s_abc1111111111111"):
            none = await typed(hub, "stop", name)
            assert none.exit_code in (1, 2), (name, none.output)
            assert f"There is no session {name!r}" in none.output, name


async def test_what_allows_something_needs_the_whole_id(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        await add(hub, "s_abc1111111111111", "Fix the tests")
        ask = await hub.ask(LS, name="a_0123456789abcdef")
        for words in (
            ("answer", "a_0123456789", "--allow"),
            ("answer", "0123456789abcdef", "--allow"),
            ("allow", "s_abc", "toolu_1"),
            ("mode", "s_abc", "bypassPermissions"),
            ("mode", "Fix the tests", "acceptEdits"),
        ):
            refused = await typed(hub, *words)
            assert refused.exit_code == 1, (words, refused.output)
            assert "the whole ID is needed" in refused.output
        assert (await hub.up.hub.desk.ask(ask.id)).state == "open"
        # What refuses may be short.
        assert (await typed(hub, "answer", "a_01234", "--deny", "No.")).output == "Answered.\n"


async def test_a_mode_that_does_not_exist_is_refused_by_the_command_and_by_the_hub(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.neighbour() as client:
        session = await hub.session()
        assert "is not one of" in (await typed(hub, "mode", session.id, "nonsense")).output
        assert (await typed(hub, "run", "--mode", "nonsense", "x")).exit_code == 2
        refused = await client.post(f"/api/sessions/{session.id}/mode", json={"mode": "nonsense"})
        assert refused.status_code == 422
        assert "mode must be one of default" in refused.json()["error"]["message"]
        start = {"say": "x", "project": str(tmp_path), "mode": "nonsense"}
        assert (await client.post("/api/sessions", json=start)).status_code == 422


async def test_rules_list_by_themselves_take_a_directory_and_refuse_what_is_over(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for words in (["rules"], ["rules", "list"], ["trust"], ["machines"]):
            assert (await typed(hub, *words)).exit_code == 0, words
        made = await typed(hub, "rules", "add", "allow", "--tool", "Read", "--project", str(tmp_path), "--json")
        assert json.loads(made.output)["project"] == str(tmp_path.resolve())
        assert len((await typed(hub, "rules", "--json")).output.splitlines()) == 1
        late = await typed(hub, "rules", "add", "allow", "--tool", "X", "--expires", "2020-01-01T00:00:00Z")
        assert (late.exit_code, late.output) == (1, "handraise: The expiry date is in the past.\n")
        none = await typed(hub, "project", "set", "nowhere at all", "mode=plan")
        assert "handraise project list --state" in none.output
        assert "handraise ps" not in none.output


def test_rules_take_this_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.` is the directory, not a project of that name."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    async def story() -> None:
        async with served(tmp_path) as hub:
            made = await typed(hub, "rules", "add", "deny", "--tool", "Read", "--project", ".", "--json")
            assert json.loads(made.output)["project"] == str(tmp_path / "work")
            await typed(hub, "project", "add", ".", "--name", "a b")
            named = await typed(hub, "rules", "add", "deny", "--tool", "Read", "--project", "a b", "--json")
            assert json.loads(named.output)["project"].startswith("p_")

    asyncio.run(story())


async def test_sessions_are_filtered_and_formatted(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        await add(hub, "s_1111", "One \x1b[2J")
        await add(hub, "s_2222", "Two", "ended", "/elsewhere")
        await hub.ask(LS, session="s_1111")
        assert (await typed(hub, "ps", "-q", "--running")).output == "s_1111\n"
        assert (await typed(hub, "ps", "-q", "--needs-you")).output == "s_1111\n"
        assert (await typed(hub, "ps", "-q", "--search", "elsewh")).output == "s_2222\n"
        assert (await typed(hub, "ps", "-q", "-n", "1")).output in ("s_1111\n", "s_2222\n")
        shown = (await typed(hub, "ps", "--running", "--format", r"{id}\t{state}|{open_asks}|{title}")).output
        assert shown == "s_1111\tneeds you|1|One ⟨U+001B⟩[2J\n"
        wrong = await typed(hub, "ps", "--format", "{nothing}")
        assert (wrong.exit_code, "There is no field {nothing}. Use one of: changed_at" in wrong.output) == (2, True)
        assert "No session matches" in (await typed(hub, "ps", "--search", "xxx")).output
        assert "There is no project" in (await typed(hub, "ps", "--project", "xxx")).output
        assert (await typed(hub, "ps", "--quiet", "--json")).exit_code == 2
        narrow = (await typed(hub, "ps", "--narrow")).output.splitlines()
        assert narrow == ["s_1111  needs you  One ⟨U+001B⟩[2J", "s_2222  ended      Two"]


def test_a_field_never_ends_a_line() -> None:
    assert formatted(r"{a}\n{b}\\{c}", {"a": "x\ny", "b": None, "c": {"d": 1}}) == 'x⟨U+000A⟩y\n\\{"d": 1}'


async def test_answers_come_from_stdin_files_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"n": 1}')
    form = Form("?", "s", {"properties": {"n": {"type": "integer"}}})
    one = Question((TWO.questions[0],))
    async with served(tmp_path) as hub:
        for body, words, stdin, expected in (
            (one, ["--text", "-"], "as few\nas possible\n", {"labels": [], "text": "as few\nas possible"}),
            (one, ["--text", "@values.json"], None, {"labels": [], "text": "@values.json"}),
            (one, ["--choose", "2"], None, {"labels": ["Postgres"], "text": None}),
            (one, ["-c", "1=2"], None, {"labels": ["Postgres"], "text": None}),
            (LS, ["--deny", "-"], "Not now.\n", {"message": "Not now."}),
            (LS, ["--allow", "--input", "-"], '{"command": "pwd"}', {"input": {"command": "pwd"}}),
            (form, ["--fill", f"@{file}"], None, {"content": {"n": 1}}),
        ):
            ask = await hub.ask(body)
            done = await typed(hub, "answer", ask.id, *words, "--json", stdin=stdin)
            assert done.exit_code == 0, done.output
            answer = json.loads(done.output)["settlement"]["answer"]
            assert expected.items() <= (answer["answers"][0] if "answers" in answer else answer).items(), words
        ask = await hub.ask(TWO)
        for words in (
            ["--choose", "1=3", "--choose", "2=3"],  # there is no third database
            ["--choose", "1=1", "--choose", "2=1"],  # where labels are numbers, a number is a label
            ["--text", "1=-", "--text", "2=-"],
            ["--fill", "@/none/such"],
        ):
            wrong = await typed(hub, "answer", ask.id, *words, stdin="x")
            assert wrong.exit_code in (1, 2), (words, wrong.output)
            assert (await hub.up.hub.desk.ask(ask.id)).state == "open"
        done = await typed(hub, "answer", ask.id, "-c", "1=1", "-c", "2=30", "--json")
        assert [each["labels"] for each in json.loads(done.output)["settlement"]["answer"]["answers"]] == [
            ["SQLite"],
            ["30"],
        ]


async def test_a_request_is_shown_whole_with_every_way_to_answer_it(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        command = "\n".join(f"echo {each} \u202e" for each in range(80))
        ask = await hub.ask(Permission("Bash", {"command": command}), name="a_0123456789abcdef")
        shown = (await typed(hub, "show", "a_0123")).output
        assert "echo 79 ⟨U+202E⟩" in shown
        assert f"handraise answer {ask.id} --deny 'The reason' --state {hub.state}" in shown
        assert "2. How many? (choose any number)" in (await typed(hub, "show", (await hub.ask(TWO)).id)).output
        await typed(hub, "answer", ask.id, "--deny", "No.")
        assert "denied" in (await typed(hub, "show", ask.id)).output
        assert json.loads((await typed(hub, "show", ask.id, "--json")).output)["state"] == "answered"
