"""Machines on the command line: listed, renamed, forgotten, and shown where there are several."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import ANY

import click
import pytest

from api.served import Served, served
from cli.test_commands import typed
from handraise.cli import completion
from handraise.cli.interactive import run
from handraise.model.asks import Ask, Origin, Permission
from handraise.model.machines import Machine, Place
from handraise.model.projects import Options, Project
from handraise.model.sessions import Ended, Session
from handraise.serving.serve import ServeConfig, reachable
from handraise.store.changes import OpenAsk, SaveMachine, SaveProject, SaveSession
from hub.fleet import fleet_of

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
AWAY = Machine("m_far", "build-2", "1.0.0", 4, NOON, NOON, 1, away_since=NOON)
ONLINE = Machine("m_near", "laptop", "1.0.1", 0, NOON, NOON + timedelta(days=9000), 1)


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Served]:
    """One with two more machines, and a session on each."""
    async with served(tmp_path) as up:
        sessions = [
            Session("s_far", None, "/work", "claude-far", "Far away", NOON, NOON, "idle", machine="m_far"),
            Session("s_near", None, "/work", "claude-near", "Close by", NOON, NOON, "idle", machine="m_near"),
        ]
        await up.up.hub.store.apply(
            [SaveMachine(AWAY, NOON), SaveMachine(ONLINE, NOON), *(SaveSession(each) for each in sessions)]
        )
        yield up


async def test_machines_are_listed_with_what_matters(hub: Served) -> None:
    rows = (await typed(hub, "machines", "list")).output.splitlines()
    far = next(row for row in rows if "build-2" in row)
    near = next(row for row in rows if "laptop" in row)
    assert far.split("  ")[0].strip() == "build-2"
    assert all(part in far for part in ("away since 2026-03-01 12:00 UTC", "1.0.0", "1 session", "4 at once"))
    assert all(part in near for part in ("online", "gateway"))
    listed = [json.loads(row) for row in (await typed(hub, "machines", "list", "--json")).output.splitlines()]
    assert {each["id"] for each in listed} >= {"m_far", "m_near"}


async def test_with_one_machine_the_list_says_how_others_join(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        assert "handraise serve --database" in (await typed(hub, "machines", "list")).output


async def test_a_machine_is_renamed_and_forgotten_only_after_a_question(hub: Served) -> None:
    assert (await typed(hub, "machines", "rename", "m_far", "builder")).exit_code == 0
    assert "builder" in (await typed(hub, "machines", "list")).output
    for words, code in (
        (["rename", "m_far", "laptop"], 4),
        (["rename", "nowhere", "x"], 1),
        (["rename", "m_far", "\x1b[2J"], 1),
        (["forget", "m_far"], 1),
        (["forget", "m_far", "--yes"], 4),
        (["forget", "nowhere", "--yes"], 1),
    ):
        done = await typed(hub, "machines", *words)
        assert done.exit_code == code, (words, done.output)
        assert "Traceback" not in done.output
    ended = Session(
        *("s_far", None, "/work", "claude-far", "Far", NOON, NOON, "ended"),
        ended=Ended("finished", "", NOON),
        machine="m_far",
    )
    await hub.up.hub.store.apply([SaveSession(ended)])
    assert (await typed(hub, "machines", "forget", "m_far", "--yes")).exit_code == 0
    assert "builder" not in (await typed(hub, "machines", "list")).output


async def test_ps_shows_the_machine_and_lists_those_of_one(hub: Served) -> None:
    rows = (await typed(hub, "ps")).output.splitlines()
    assert any("s_far" in row and "build-2 (away)" in row for row in rows)
    assert any("s_near" in row and "laptop" in row for row in rows)
    only = (await typed(hub, "ps", "--machine", "build-2")).output.splitlines()
    assert [row.split()[0] for row in only] == ["s_far"]
    as_json = (await typed(hub, "ps", "--machine", "m_far", "--json")).output.splitlines()
    assert [json.loads(row)["machine"] for row in as_json] == ["m_far"]
    unknown = await typed(hub, "ps", "--machine", "nowhere")
    assert (unknown.exit_code, "handraise machines" in unknown.output) == (2, True)


async def test_with_one_machine_ps_names_none_and_asks_for_none(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        (alone,) = await hub.up.hub.desk.machines()
        here = Session("s_1", None, "/work", "claude", "Fix it", NOON, NOON, "idle", machine=alone.machine.id)
        await hub.up.hub.store.apply([SaveSession(here)])
        answered = sum(hub.up.app.answered.values())
        row = (await typed(hub, "ps")).output
        assert alone.machine.name not in row.replace("Fix it", "")
        assert sum(hub.up.app.answered.values()) == answered + 1


async def test_what_waits_for_a_machine_that_is_away_is_said(hub: Served) -> None:
    done = await typed(hub, "say", "s_far", "Skip the docs")
    assert (done.exit_code, done.output) == (
        0,
        "Machine build-2 is away. Your message is stored and will be delivered when it returns.\n",
    )
    stopped = await typed(hub, "stop", "s_far")
    assert (stopped.exit_code, stopped.output) == (0, "Machine build-2 is away. The session stops when it returns.\n")
    for words in (["interrupt", "s_far"], ["mode", "s_far", "plan"]):
        refused = await typed(hub, *words)
        assert (refused.exit_code, "build-2" in refused.output) == (4, True), refused.output


async def test_what_waits_for_a_machine_that_is_away_is_listed_and_taken_back(hub: Served) -> None:
    assert (await typed(hub, "cancel", "s_far")).output == "Nothing is waiting for this session.\n"
    await typed(hub, "say", "s_far", "Skip the docs")
    await typed(hub, "say", "s_far", "And the \x1b[2Jtests")
    await typed(hub, "stop", "s_far")
    rows = (await typed(hub, "cancel", "s_far")).output.splitlines()
    assert [row.split("  ")[1:] for row in rows] == [["message", "Skip the docs"], ["message", ANY], ["stop"]]
    assert "\x1b" not in rows[1]
    listed = [json.loads(row) for row in (await typed(hub, "cancel", "s_far", "--json")).output.splitlines()]
    assert [each["kind"] for each in listed] == ["message", "message", "stop"]
    for each in (listed[0], listed[2]):
        assert (await typed(hub, "cancel", "s_far", each["id"])).exit_code == 0
    left = (await typed(hub, "cancel", "s_far")).output.splitlines()
    assert [row.split("  ")[0] for row in left] == [listed[1]["id"]]
    for words, code in ((["s_far", listed[0]["id"]], 1), (["s_far", "i_none"], 1), (["s_none"], 1)):
        done = await typed(hub, "cancel", *words)
        assert (done.exit_code, "Traceback" in done.output) == (code, False), done.output


async def test_the_inbox_of_one_machine(hub: Served) -> None:
    body = Permission("Bash", {"command": "make"})
    for name, machine in (("a_far", "m_far"), ("a_near", "m_near")):
        ask = Ask(name, f"s_{machine[2:]}", None, body, "Bash", Origin(name), NOON, "session", machine=machine)
        await hub.up.hub.store.apply([OpenAsk(ask)])
    rows = (await typed(hub, "inbox", "--machine", "laptop", "--json")).output.splitlines()
    assert [json.loads(row)["id"] for row in rows] == ["a_near"]
    assert "build-2 (away)" in (await typed(hub, "inbox", "--machine", "build-2")).output
    unknown = await typed(hub, "inbox", "--machine", "nowhere")
    assert (unknown.exit_code, "handraise machines" in unknown.output) == (2, True)


async def test_projects_are_listed_with_the_names_of_machines(hub: Served) -> None:
    shop = Project("p_shop", "shop", "", Options(), NOON, (Place("m_near", "/me/shop"), Place("m_far", "/srv/shop")))
    await hub.up.hub.store.apply([SaveProject(shop)])
    rows = (await typed(hub, "project", "list")).output.splitlines()
    assert {"    on laptop: /me/shop", "    on build-2: /srv/shop"} <= set(rows)


async def test_a_session_stays_on_its_machine(hub: Served) -> None:
    refused = await typed(hub, "run", "Go on", "--resume", "s_far", "--machine", "laptop")
    assert (refused.exit_code, "stays on its machine" in refused.output) == (2, True)


async def test_a_project_gets_a_directory_on_another_machine(hub: Served) -> None:
    shop = Project("p_shop", "shop", "", Options(), NOON, (Place("m_near", "/me/shop"),))
    await hub.up.hub.store.apply([SaveProject(shop)])
    placed = await typed(hub, "project", "place", "shop", "/srv/shop", "--machine", "build-2", "--json")
    assert placed.exit_code == 0, placed.output
    elsewhere = json.loads(placed.output)["elsewhere"]
    assert {"machine": "m_far", "path": "/srv/shop"} in elsewhere
    assert (await typed(hub, "project", "place", "shop")).exit_code == 2
    removed = await typed(hub, "project", "place", "shop", "--remove", "--machine", "build-2", "--json")
    assert [each["machine"] for each in json.loads(removed.output)["elsewhere"]] == ["m_near"]


async def test_an_answer_for_a_machine_that_is_away_says_when_it_arrives(hub: Served) -> None:
    body = Permission("Bash", {"command": "make"})
    ask = Ask("a_far", "s_far", None, body, "Bash", Origin("r_1"), NOON, "session", machine="m_far")
    await hub.up.hub.store.apply([OpenAsk(ask)])
    assert "✋ Run `make`? (build-2 (away))" in (await typed(hub, "inbox")).output
    done = await typed(hub, "answer", "a_far", "--allow")
    assert done.output == (
        "Answered.\nMachine build-2 is away. Your answer is stored and will be delivered when it returns.\n"
    )


async def test_a_session_is_started_on_a_machine_by_name_or_on_any(tmp_path: Path) -> None:
    service = ServeConfig(tmp_path / "served", Path("/bin/false"), {}, port=0)
    service.state.mkdir(mode=0o700)
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server), reachable(laptop.hub, service):
        desk = laptop.hub.desk
        project = await desk.add_project(str(laptop.work), "app", Options())
        await desk.change_project(project.id, None, None, str(server.work), "server")
        code, output = await _run_detached(service.state, "server")
        assert code == 0, output
        assert (await desk.session(output.split()[-1])).session.machine == server.machine
        code, output = await _run_detached(service.state, "any", "--json")
        assert code == 0, output
        (session,) = json.loads(output).values()
        assert json.loads(output) == {"session": session}
        assert (await desk.session(session)).session.id == session
        code, output = await _run_detached(service.state, "nowhere")
        assert (code != 0, "nowhere" in output) == (True, True), output


async def _run_detached(state: Path, machine: str, *more: str) -> tuple[int | None, str]:
    """The real command: it looks whether something comes through a pipe."""
    words = ("run", "go", "--detach", "--project", "app", "--machine", machine, "--state", str(state), *more)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "handraise", *words), stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
    )
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    return process.returncode, output.decode()


async def test_names_of_machines_are_completed(hub: Served) -> None:
    context = click.Context(run, info_name="run")
    context.params = {"state": str(hub.state)}
    found = await asyncio.to_thread(completion.machines_or_any, context, run.params[0], "")
    assert {each.value for each in found} >= {"build-2", "laptop", "any"}
    begun = await asyncio.to_thread(completion.machines, context, run.params[0], "b")
    assert [(each.value, each.help) for each in begun] == [("build-2", "away")]
