"""Commands as a person or a script types them: their output and exit codes."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.served import Served, served
from handraise.cli.main import main
from handraise.model.asks import Answered, Body, Form, Option, Permission, Plan, Prompt, Question


async def typed(hub: Served | Path, *words: str) -> Result:
    state = hub if isinstance(hub, Path) else hub.state
    return await asyncio.to_thread(CliRunner().invoke, main, [*words, "--state", str(state)])


ANSWERS: list[tuple[Body, list[str], dict[str, object]]] = [
    (Question((Prompt("Q?", "", (Option("A"), Option("B"))),)), ["--choose", "A"], {"labels": ["A"], "text": None}),
    (Question((Prompt("Q?", "", (Option("A"), Option("B"))),)), ["--text", "C"], {"labels": [], "text": "C"}),
    (Permission("Bash", {"command": "ls"}), ["--allow"], {"allow": True, "for": "once"}),
    (
        Permission("Bash", {"command": "ls"}),
        ["--allow", "--input", '{"command":"pwd"}'],
        {"input": {"command": "pwd"}},
    ),
    (Permission("Bash", {"command": "ls"}), ["--deny", "No."], {"allow": False, "message": "No."}),
    (Plan("1."), ["--approve", "--mode", "acceptEdits"], {"approve": True, "mode": "acceptEdits"}),
    (Plan("1."), ["--revise", "Shorter."], {"approve": False, "message": "Shorter."}),
    (Plan("1."), ["--outline"], {"outline": True}),
    (Form("?", "s", {"properties": {"n": {"type": "integer"}}}), ["--fill", '{"n":1}'], {"content": {"n": 1}}),
    (Form("?", "s", {"properties": {}}), ["--decline"], {"action": "decline"}),
    (Form("?", "s", {}, "https://example.com/"), ["--done"], {"action": "accept"}),
    (Form("?", "s", {}, "https://example.com/"), ["--dismiss"], {"action": "cancel"}),
]


async def test_every_kind_of_ask_is_answered_from_a_script(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for body, words, answer in ANSWERS:
            ask = await hub.ask(body)
            done = await typed(hub, "answer", ask.id, *words, "--json")
            assert done.exit_code == 0, done.output
            given = json.loads(done.output)["settlement"]["answer"]
            assert answer.items() <= (given["answers"][0] if "answers" in given else given).items(), words


async def test_what_went_wrong_is_a_sentence_and_a_code(tmp_path: Path) -> None:
    assert (await typed(tmp_path / "none", "ps")).exit_code == 3
    async with served(tmp_path) as hub:
        ask = await hub.ask(Permission("Bash", {"command": "ls"}))
        for words, code in (
            (["answer", ask.id], 2),
            (["answer", ask.id, "--choose", "A"], 2),
            (["answer", ask.id, "--allow", "--input", "{"], 2),
            (["answer", "a_none", "--allow"], 1),
            (["answer", "a b/../c?d#e", "--allow"], 1),
            (["answer", ask.id, "--allow", "--for", "always"], 2),
            (["allow", "s_none", "toolu_1"], 1),
            (["interrupt", "s_none"], 1),
            (["stop", "s_none"], 1),
            (["token", "revoke", "t_none"], 1),
            (["token", "create", "x", "--expires", "2020-01-01T00:00:00Z"], 1),
        ):
            done = await typed(hub, *words)
            assert done.exit_code == code, (words, done.output)
            assert "Traceback" not in done.output
            sentence = done.output.splitlines()[-1 if code == 1 else 0]
            assert sentence.endswith((".", f"List them with: handraise ps --state {hub.state}")), done.output
        await typed(hub, "answer", ask.id, "--deny", "No.")
        assert (await typed(hub, "answer", ask.id, "--allow")).exit_code == 4


async def test_nothing_is_sent_unless_everything_fits(tmp_path: Path) -> None:
    """What was tried: it was allowed, approved, and said to both questions."""
    yes_no = Prompt("Really?", "", (Option("Yes"), Option("No")))
    async with served(tmp_path) as hub:
        run, plan = await hub.ask(Permission("Bash", {"command": "ls"})), await hub.ask(Plan("1."))
        two = await hub.ask(Question((yes_no, yes_no)))
        for words in (
            [run.id, "--allow", "--deny", "no"],
            [plan.id, "--approve", "--revise", "no"],
            [two.id, "--choose", "Yes"],
            [two.id, "--choose", "1=Yes", "--choose", "2=No", "--text", "1=but"],
            [two.id, "--text", "1=a", "--text", "2=b", "--text", "2=c"],
        ):
            done = await typed(hub, "answer", *words)
            assert done.exit_code == 2, done.output
            assert "You can answer with:" in done.output
        assert len(await hub.up.hub.desk.asks()) == 3
        done = await typed(hub, "answer", two.id, "--choose", "2=No", "--text", "1=Yes, but", "--json")
        assert json.loads(done.output)["settlement"]["answer"] == {
            "answers": [{"labels": [], "text": "Yes, but"}, {"labels": ["No"], "text": None}]
        }


async def test_another_machines_hub_is_answered_by_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path) as hub:
        ask = await hub.ask(Permission("Bash", {"command": "ls"}))
        elsewhere = ["answer", ask.id, "--deny", "No.", "--hub", hub.up.base]
        assert (await typed(hub, *elsewhere)).exit_code == 4
        secret = (await typed(hub, "token", "create", "CI", "--role", "approver")).output.strip()
        monkeypatch.setenv("HANDRAISE_TOKEN", secret)
        assert (await typed(hub, *elsewhere)).output == "Answered.\n"
        settled = (await hub.up.hub.desk.ask(ask.id)).settlement
        assert isinstance(settled, Answered)
        assert (settled.by.name, settled.source) == ("CI", "terminal")
        assert (await typed(hub, *elsewhere[:-1], "http://127.0.0.1:1")).exit_code == 3


async def test_tokens_are_made_listed_and_revoked(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        secret = (await typed(hub, "token", "create", "CI", "--role", "viewer")).output.strip()
        bearer = {"authorization": f"Bearer {secret}"}
        assert (await client.get("/api/me", headers=bearer)).json()["role"] == "viewer"
        listed = (await typed(hub, "token", "list", "--json")).output
        assert secret not in listed
        [identity] = [each["id"] for each in map(json.loads, listed.splitlines()) if each["name"] == "CI"]
        assert (await typed(hub, "token", "revoke", identity)).exit_code == 0
        assert (await client.get("/api/me", headers=bearer)).status_code == 401
        link = (await typed(hub, "token", "link")).output.strip()
        assert (await client.get(link)).status_code == 303


async def test_rules_are_added_listed_and_revoked(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        assert "No rules." in (await typed(hub, "rules", "list")).output
        (tmp_path / "shop").mkdir()
        await typed(hub, "project", "add", str(tmp_path / "shop"))
        made = await typed(
            hub, "rules", "add", "allow", "--tool", "Bash", "--command", "npm run *", "--project", "shop", "--json"
        )
        rule = json.loads(made.output)
        assert (rule["command"], rule["source"], rule["made_by"]) == ("npm run *", "person", "owner")
        assert rule["project"].startswith("p_")
        listed = (await typed(hub, "rules", "list")).output
        assert f"{rule['id']}  allow  Bash `npm run *` · project {rule['project']} · by owner" in listed
        assert (await typed(hub, "rules", "revoke", rule["id"])).exit_code == 0
        assert (await typed(hub, "rules", "list", "--json")).output == ""


async def test_a_directory_or_a_name_that_is_a_project_already_is_refused_with_its_name(tmp_path: Path) -> None:
    for name in ("shop", "other"):
        (tmp_path / name).mkdir()
    async with served(tmp_path) as hub:
        assert (await typed(hub, "project", "add", str(tmp_path / "shop"))).exit_code == 0
        again = await typed(hub, "project", "add", str(tmp_path / "shop"), "--name", "mine")
        assert (again.exit_code, again.output) == (4, "handraise: This directory is already a project (`shop`).\n")
        named = await typed(hub, "project", "add", str(tmp_path / "other"), "--name", "shop")
        sentence = "There is already a project called `shop`. Choose another name."
        assert (named.exit_code, named.output) == (4, f"handraise: {sentence}\n")


async def test_a_rule_holds_in_a_directory_that_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    async with served(tmp_path) as hub:
        where = str(tmp_path / "plain")
        made = await typed(hub, "rules", "add", "allow", "--tool", "Read", "--project", where, "--json")
        assert json.loads(made.output)["project"] == where
        gone = await typed(hub, "rules", "add", "allow", "--tool", "Read", "--project", str(tmp_path / "gone"))
        assert (gone.exit_code, "There is no directory" in gone.output) == (1, True)
        # Once it is a project, the rule is that project's.
        project = json.loads((await typed(hub, "project", "add", where, "--json")).output)
        [rule] = await hub.up.hub.desk.rules()
        assert rule.project == project["id"]


SENSELESS: list[tuple[list[str], int, str]] = [
    (["add", "allow"], 1, "A rule needs a tool, a command, a path or a server."),
    (["add", "allow", "--tool", "Read", "--project", "nowhere"], 1, "There is no project nowhere."),
    (["add", "perhaps", "--tool", "Read"], 2, "perhaps"),
    (["add", "deny", "--tool", "Read", "--expires", "soon"], 1, "expires_at"),
    (["revoke", "r_none"], 1, "There is no rule r_none"),
]


async def test_a_rule_that_makes_no_sense_is_refused_and_none_colours_its_line(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for words, code, why in SENSELESS:
            done = await typed(hub, "rules", *words)
            assert done.exit_code == code, done.output
            assert why in done.output
            assert (await typed(hub, "rules", "list", "--json")).output == ""
        done = await typed(hub, "rules", "add", "deny", "--tool", "X", "--message", "No \x1b[31mway.")
        assert "\x1b" not in done.output


async def test_the_audit_is_listed_filtered_and_exported(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        ask = await hub.ask(Permission("Bash", {"command": "ls"}))
        await typed(hub, "answer", ask.id, "--deny", "No \x1b[31mway.")
        listed = (await typed(hub, "audit", "--ask", ask.id)).output
        assert listed.count("\n") == 1
        assert f"answered        owner (terminal) {ask.id}" in listed
        assert "\x1b" not in listed
        exported = [json.loads(line) for line in (await typed(hub, "audit", "--json")).output.splitlines()]
        assert [each["number"] for each in exported] == list(range(1, len(exported) + 1))
        assert exported[-1]["digest"] == ask.digest
        assert (await typed(hub, "audit", "--what", "nonsense")).exit_code == 1
