"""Every command that we print works: it is run here as it is printed, in the situation that it is printed for.

A new one fails here until somebody says how it is run.
"""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from msgspec.structs import replace

from api.served import Served, served
from cli.parsing import parsed
from cli.printed import PLACE, ROOT, printed
from handraise.model.asks import Body, Form, Offer, Option, Permission, Plan, Prompt, Question
from handraise.model.machines import Machine
from handraise.model.projects import Options
from handraise.model.sessions import Session
from handraise.store.changes import SaveMachine, SaveSession
from handraise.surfaces.terminal.answer_options import how_to_answer
from surfaces.terminal.pseudo import CTRL_C, CTRL_D, Pseudo, handraise
from surfaces.terminal.ready import start

DEADLINE = 60.0
PRETEND = Path(__file__).parents[1] / "hub" / "pretend_claude.py"
AWAY = Machine("m_away", "build-2", "1.0.0", 4, datetime.now(UTC), datetime.now(UTC), 1, away_since=datetime.now(UTC))

MENTIONS = {
    "handraise login": "the help of --hub says where one signed in",
    "handraise mcp": "the API's description names who uses a route",
    "handraise mcp [--state DIR]": "its own usage line",
    "handraise project set": "the settings say what else can set an option",
    "handraise serve --database": "the help of --database says where else it is named",
}
"""Named in a sentence, not to be typed as they stand."""

ELSEWHERE = {
    "handraise allow": ("stories/test_denied_calls_and_killed_hubs.py", '"allow", session.id, denied.action'),
    "handraise demo": ("stories/test_demonstration.py", "demonstration(tmp_path, 0)"),
    "handraise notify test": ("cli/test_notify.py", '"notify", "test", "phone"'),
    "handraise notify unmute": ("cli/test_notify.py", '"notify", "unmute", mute["id"]'),
    "handraise serve": ("stories/test_serve.py", '"serve"'),
    "handraise serve --database": ("cli/test_shared_database.py", '["serve", *options, "--database", url]'),
    "handraise service": ("cli/test_hub.py", 'typed("service", "install"'),
    "handraise store copy": ("cli/test_store.py", '"store", "copy"'),
    "handraise telegram setup": ("stories/test_telegram_setup.py", '"telegram", "setup"'),
    "handraise webhooks": ("cli/test_webhooks.py", '"webhooks", "--json"'),
    "handraise webhooks add": ("cli/test_webhooks.py", '"webhooks", "add", there.url(), "--event", "ask.opened"'),
    "handraise webhooks deliveries": ("cli/test_webhooks.py", '"webhooks", "deliveries", "chat"'),
    "handraise webhooks enable": ("cli/test_webhooks.py", '"webhooks", "enable", "chat"'),
    "handraise webhooks remove": ("cli/test_webhooks.py", '"webhooks", "remove", "chat"'),
    "handraise webhooks resend": ("cli/test_webhooks.py", '"webhooks", "resend", "chat"'),
    "handraise webhooks rotate": ("cli/test_webhooks.py", '"webhooks", "rotate", "chat"'),
    "handraise webhooks test": ("cli/test_webhooks.py", '"webhooks", "test", "chat"'),
    "handraise telegram status": ("stories/test_telegram_setup.py", '"telegram", "status"'),
}
"""Run by a test of their own, since they take a real Claude, a database or a chat: the file, and where in it."""

CONFIRMED = ("rm", "prune", "project remove", "restore")
"""They ask first, in a terminal."""

WHICH = Question((Prompt("Which database?", "Store", (Option("SQLite"), Option("Postgres"))),))
BOTH = Question((*WHICH.questions, Prompt("How many tables?", "Tables", (Option("one"), Option("two")))))
RUN = Permission("Bash", {"command": "npm test"}, offers=(Offer("session", "npm test", ()),))
FILL = Form("Release?", "s", {"properties": {"version": {"type": "string"}}})


def strict() -> list[str]:
    """The commands that people are meant to type, each once."""
    return sorted({each.words for each in printed() if not each.is_mention and each.words not in MENTIONS})


def elsewhere(command: str) -> tuple[str, str] | None:
    named = [each for each in ELSEWHERE if f"{command} ".startswith(f"{each} ")]
    return ELSEWHERE[max(named, key=len)] if named else None


def test_commands_are_found_wherever_they_are_printed() -> None:
    found = {(each.words, each.where) for each in printed()}
    assert {
        ("handraise ps«client.options»", "src/handraise/cli/finding.py"),
        ("handraise project sync", "src/handraise/texts/en/doctor.json"),
        ("handraise telegram setup", "web/src/inbox/Welcome.tsx"),
        ('handraise run "Fix the failing test"', "README.md"),
        ("handraise token link", "deploy/compose.yaml"),
        ("make wheel", "docs/start.md"),
    } <= found
    assert len({words for words, _ in found}) > 120


def test_what_a_page_names_exists_with_its_options() -> None:
    for each in printed():
        if not each.is_mention or each.program != "handraise":
            continue
        # `[SESSION]` and `…` stand for what a person types.
        words = shlex.split(re.sub(" …$|[][]", "", each.words).replace("…", "x"))[1:]
        try:
            parsed([re.sub("^(ROLE|PROJECT|URL)$", "agent", word) for word in words])
        except (click.MissingParameter, click.BadOptionUsage):
            pass  # not a whole command: `handraise say`, `handraise serve --database`
        except (click.exceptions.NoArgsIsHelpError, click.exceptions.Exit):
            pass  # a group of commands
        except click.UsageError as error:
            if "does not exist" not in str(error):  # a file that stands for the reader's own
                raise AssertionError(each) from error


def test_what_make_is_told_to_do_can_be_done() -> None:
    # Not a parameter: every worker would look for the commands while it collects the tests.
    for command in sorted({each.words for each in printed() if each.program == "make"}):
        if command.startswith("make deploy-"):
            continue  # in the cookbook: somebody else's Makefile
        words = shlex.split(command)[1:]
        done = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)


def test_what_is_run_elsewhere_is_run_there() -> None:
    for file, piece in ELSEWHERE.values():
        assert piece in (ROOT / "tests" / file).read_text("utf-8"), file
    assert MENTIONS.keys() <= {each.words for each in printed()}


class PrintedStage:
    """A hub with everything that the printed commands are about; each gets what it needs anew."""

    def __init__(self, tmp: Path, hub: Served) -> None:
        self.home = tmp / "home"
        self.shop = tmp / "shop"
        self.hub = hub
        self.environment = {
            "HOME": str(self.home),
            "HANDRAISE_STATE": str(hub.state),
            "HANDRAISE_CLAUDE_PATH": str(tmp / "claude"),
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }

    async def type(self, *words: str, text: str = "", cwd: Path | None = None) -> tuple[int, str]:
        """The exit code and everything it printed, without a terminal."""
        given, heard = os.memfd_create("in"), os.memfd_create("out")
        try:
            os.write(given, text.encode())
            os.lseek(given, 0, os.SEEK_SET)
            child = await start(handraise(*words), self.environment, str(cwd or self.shop), [given, heard, heard])
            try:
                async with asyncio.timeout(DEADLINE):
                    code = await child.wait()
            finally:
                await child.kill()
            os.lseek(heard, 0, os.SEEK_SET)
            return code, os.read(heard, 1_000_000).decode()
        finally:
            os.close(given)
            os.close(heard)

    async def works(self, *words: str, **how: str) -> str:
        code, output = await self.type(*words, **how)  # type: ignore[arg-type]
        assert code == 0, (words, output)
        return output

    async def in_terminal(self, words: list[str], *keys: str, until: str) -> str:
        async with Pseudo(*handraise(*words), environment=self.environment, cwd=str(self.shop)) as terminal:
            await terminal.until(until)
            terminal.type(*keys)
            assert await terminal.end() in (0, 130), terminal.everything
            return terminal.everything

    async def running(self) -> str:
        """A session in the middle of a turn."""
        return (await self.works("run", "--detach", "wait")).split()[-1]

    async def ended(self, title: str) -> str:
        """One that has done what it was told."""
        items = (await self.works("run", "--json", title)).splitlines()
        session: str = json.loads(items[-1])["session"]
        await self.stop(session)
        return session

    async def stop(self, session: str) -> None:
        await self.type("stop", session)  # unless it is ending already
        async with asyncio.timeout(DEADLINE), self.hub.up.hub.desk.follow(0) as follower:
            async for _ in follower:
                left = [each for each in await self.hub.up.hub.store.sessions() if each.phase != "ended"]
                if session not in [each.id for each in left]:
                    return

    async def ask(self, body: Body) -> str:
        return (await self.hub.ask(body)).id


@asynccontextmanager
async def stage(tmp: Path) -> AsyncIterator[PrintedStage]:
    for name in ("home", "shop/src", "place"):
        (tmp / name).mkdir(parents=True)
    program = tmp / "claude"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "{PRETEND}" "$@"\n')
    program.chmod(0o700)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp / "home"), "PRETEND_LOG": str(tmp / "received")}
    shop = tmp / "shop"
    (shop / "src/app.py").write_text("x = 1\n")
    (shop / "screenshot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (shop / "rules.toml").write_text('[[rule]]\ndecision = "deny"\ncommand = "git push *"\n')
    (shop / "values.json").write_text('{"version": "1.2.0"}')
    git = ["git", "-C", str(shop), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    options = Options(sandbox="off")
    async with served(tmp, program=program, environment=environment, options=options, machine_name="laptop") as hub:
        await hub.up.hub.store.apply([SaveMachine(AWAY, datetime.now(UTC))])
        built = PrintedStage(tmp, hub)
        await built.works("project", "add", str(shop), "--name", "shop")
        yield built


Situation = Callable[[PrintedStage], Awaitable[dict[str, str]]]


async def a_running_session(stage: PrintedStage) -> dict[str, str]:
    return {"SESSION": await stage.running()}


async def an_ended_session(stage: PrintedStage) -> dict[str, str]:
    found = [each for each in await stage.hub.up.hub.store.sessions() if each.title == "Fix the tests"]
    return {"SESSION": found[0].id if found else await stage.ended("Fix the tests")}


async def one_that_needs_you(stage: PrintedStage) -> dict[str, str]:
    await stage.works("run", "--detach", "ask")
    return {}


async def a_finished_session_long_ago(stage: PrintedStage) -> dict[str, str]:
    session = await stage.hub.session()
    before = session.changed_at - timedelta(days=8)
    await stage.hub.up.hub.store.apply([SaveSession(replace(session, changed_at=before))])
    return {}


async def an_experiment(stage: PrintedStage) -> dict[str, str]:
    await stage.ended("An experiment")
    return {}


async def a_changed_file(stage: PrintedStage) -> dict[str, str]:
    found = await an_ended_session(stage)
    (stage.shop / "src/app.py").write_text("x = 2\n")
    return found


async def a_conversation(stage: PrintedStage) -> dict[str, str]:
    found = await an_ended_session(stage)
    await stage.hub.publish("A database migration ran into a timeout in npm test.", session=found["SESSION"])
    return found


async def a_journal(stage: PrintedStage) -> dict[str, str]:
    found = await an_ended_session(stage)
    journal = next((stage.hub.state / "sessions" / found["SESSION"]).glob("*/out.ndjson"))
    (stage.shop / "out.ndjson").write_bytes(journal.read_bytes())
    return found


async def a_message_for_an_absent_machine(stage: PrintedStage) -> dict[str, str]:
    there = Session("s_away", None, "/srv/shop", "c", "Away", AWAY.seen_at, AWAY.seen_at, "idle", machine=AWAY.id)
    await stage.hub.up.hub.store.apply([SaveSession(there)])
    await stage.works("say", "s_away", "Hello")
    waiting = (await stage.works("cancel", "s_away", "--json")).splitlines()
    return {"SESSION": "s_away", "i_…": json.loads(waiting[0])["id"]}


async def a_token(stage: PrintedStage) -> dict[str, str]:
    await stage.works("token", "create", "phone")
    rows = (await stage.works("token", "list", "--json")).splitlines()
    return {"ID": json.loads(rows[-1])["id"]}


async def the_hubs_address(stage: PrintedStage) -> dict[str, str]:
    token = (await stage.works("token", "create", "laptop")).strip()
    return {"URL": stage.hub.up.base, "https://hub.example": stage.hub.up.base, "stdin": f"{token}\n"}


async def no_project_here(stage: PrintedStage) -> dict[str, str]:
    await stage.type("project", "remove", "shop", "--yes")
    return {"DIRECTORY": "."}


async def a_machine_called_builder(stage: PrintedStage) -> dict[str, str]:
    await stage.type("machines", "rename", "build-2", "builder")
    return {}


async def this_machine_called_build_2(stage: PrintedStage) -> dict[str, str]:
    await stage.works("machines", "rename", "build-2", "builder")
    await stage.works("machines", "rename", "laptop", "build-2")
    return {}


async def a_backup(stage: PrintedStage) -> dict[str, str]:
    for name in ("handraise-backup.zip", "before-upgrade.zip"):
        (stage.home / name).unlink(missing_ok=True)
    return {}


async def channels_and_a_secret(stage: PrintedStage) -> dict[str, str]:
    """The channels that chains name, unless they are being added."""
    listed = (await stage.works("notify", "list", "--json")).splitlines()
    names = {json.loads(each)["name"] for each in listed if each.startswith("{")}
    for name in {"phone", "mail"} - names:
        await stage.works("notify", "add", name, "ntfy", "topic=claude")
    return {"stdin": "slack://a/b/c"}


def asking(body: Body, **more: str) -> Situation:
    async def situation(stage: PrintedStage) -> dict[str, str]:
        return {"ASK": await stage.ask(body), **more}

    return situation


SITUATIONS: dict[str, Situation] = {
    "answer a_… --allow": asking(RUN),
    "answer a_… --choose 1=SQLite": asking(BOTH),
    "answer a_… --choose SQLite": asking(WHICH),
    "answer a_… --deny": asking(RUN),
    "answer a_… --fill": asking(FILL),
    "answer a_… --text -": asking(WHICH, stdin="Neither of them."),
    "attach": an_ended_session,
    "backup": a_backup,
    "cancel": a_message_for_an_absent_machine,
    "diff": a_changed_file,
    "login": the_hubs_address,
    "mode": a_running_session,
    "notify add": channels_and_a_secret,
    "notify chain set": channels_and_a_secret,
    "project add": no_project_here,
    "ps --watch": one_that_needs_you,
    "prune": a_finished_session_long_ago,
    "ps --machine builder": a_machine_called_builder,
    "replay": a_journal,
    "rm": an_ended_session,
    "rm $(handraise ps -q --search experiment)": an_experiment,
    "run --machine build-2": this_machine_called_build_2,
    "run --resume": an_ended_session,
    "say": a_running_session,
    "search": a_conversation,
    "show": an_ended_session,
    "show a_…": asking(WHICH),
    "stop": a_running_session,
    "token revoke": a_token,
}
"""What there is when a command is printed, by how it begins; and what stands for what."""

SESSIONS = ("s_…", "s_1234", "«session»", "«identity»", "«ordered[0].id»")
ASKS = ("a_…", "a_1234", "«ask.id»")
OPTIONS = (
    "«options»",
    "«client.options»",
    "«self.options»",
    "«self.client.options»",
    "«hub.options»",
    "«options_of(HubChoice(str(folder)), state)»",
)
"""How a command finds the same hub again."""


def usual(command: str) -> str:
    """The same for commands that differ only in how a placeholder is written."""
    for several, one in ((OPTIONS, ""), (SESSIONS, SESSIONS[0]), (ASKS, ASKS[0])):
        for each in several:
            command = command.replace(each, one)
    return command.replace(" ID", f" {SESSIONS[0]}") if "token" not in command else command.replace("t_1234", "ID")


def situation_of(command: str) -> Situation | None:
    named = [each for each in SITUATIONS if f"{command} ".startswith(f"{each} ")]
    return SITUATIONS[max(named, key=len)] if named else None


def filled(command: str, stage: PrintedStage, values: dict[str, str]) -> str:
    """The command as a person types it: with something for every placeholder."""
    command = command.replace(SESSIONS[0], values.get("SESSION", "s_none")).replace(ASKS[0], values.get("ASK", ""))
    for name in ("ID", "i_…", "URL", "https://hub.example"):
        command = command.replace(name, values[name]) if name in values else command
    known = {
        "state": str(stage.hub.state),
        "hub.address": stage.hub.up.base,
        "self._address": stage.hub.up.base,
        "project": "shop",
        "ceil(2 * cost_usd)": "4",
        "word if os.path.isdir(named) else 'DIRECTORY'": ".",
    }
    command = PLACE.sub(lambda place: known[place[1]], command)
    if "DIRECTORY" in values:
        command = command.replace("DIRECTORY", values["DIRECTORY"])
    backup, place = stage.home / "handraise-backup.zip", stage.shop.parent / "place"
    here = {"NAME": "ana", "FILE": str(backup), "/srv/shop": str(place)}
    for name, value in here.items():
        command = re.sub(rf"(?<!\S){name}(?!\S)", value, command)
    return command.replace("~", str(stage.home))


async def perform(stage: PrintedStage, template: str) -> None:
    """Runs a command as it is printed. It works, and nothing of it is missing."""
    bare = template.removeprefix("handraise ")
    prepare = situation_of(bare)
    values = await prepare(stage) if prepare is not None else {}
    command = filled(template, stage, values)
    for inner in re.finditer(r"\$\(handraise ([^)]*)\)", command):
        command = command.replace(inner[0], (await stage.works(*shlex.split(inner[1]))).replace("\n", " "))
    words = shlex.split(command)[1:]
    if bare.startswith(CONFIRMED):
        answered = await stage.in_terminal(words, "y\r", until="[y/N]")
        assert "Removed" in answered, answered
    elif "--watch" in words:
        await stage.in_terminal(words, CTRL_C, until="needs you")
    elif bare == "run --resume s_…":
        # Without a message: the person types it.
        await stage.in_terminal(words, CTRL_D, until="What next?")
    else:
        code, output = await stage.type(*words, text=values.get("stdin", ""))
        # A doctor that finds something has worked, too.
        assert code == 0 or (words[0] == "doctor" and code == 1), (template, words, output)
        assert "Traceback" not in output
    await tidy(stage, bare)


async def tidy(stage: PrintedStage, performed: str) -> None:
    """What the next command expects: no session runs, and the project and the machine are there."""
    store = stage.hub.up.hub.store
    for session in [each for each in await store.sessions() if each.phase != "ended"]:
        if session.machine == AWAY.id:
            await store.apply([SaveSession(replace(session, phase="ended"))])
        else:
            await stage.stop(session.id)
    if performed.startswith("login"):
        await stage.works("logout")
    if performed.startswith("run --machine build-2"):
        await stage.works("machines", "rename", "build-2", "laptop")
    if performed.startswith(("machines rename", "ps --machine builder", "run --machine build-2")):
        await stage.works("machines", "rename", "builder", "build-2")
    if performed.startswith("project sync"):
        # New sessions there would ask whether its entries are trusted.
        await stage.works("project", "sync", "--remove")
    if performed.startswith(("project add", "project remove")):
        await stage.type("project", "remove", "shop", "--yes")
        await stage.works("project", "add", ".", "--name", "shop")


async def test_every_command_that_we_print_is_run(tmp_path: Path) -> None:
    ours = dict.fromkeys(usual(each) for each in strict() if each.startswith("handraise "))
    to_run = [each for each in ours if elsewhere(each) is None]
    offline = ("handraise machines new-identity", "handraise restore", "handraise answer a_… «each»")
    async with stage(tmp_path) as at:
        for template in to_run:
            if not template.startswith(offline):
                await perform(at, template)
        await at.works("backup", "--force", str(at.home / "handraise-backup.zip"))
    # These are for a machine whose hub is stopped.
    assert "is now machine" in await at.in_terminal(["machines", "new-identity"], "y\r", until="[y/N]")
    for template in (each for each in to_run if each.startswith("handraise restore")):
        words = shlex.split(filled(template, at, {}))[1:]
        assert "Restored to" in await at.in_terminal(words, "y\r", until="[y/N]")


async def test_every_way_to_answer_that_we_print_is_taken(tmp_path: Path) -> None:
    bodies: list[Body] = [WHICH, BOTH, RUN, Plan("1. Do it."), FILL, Form("?", "s", {}, "https://example.com/")]
    async with stage(tmp_path) as at:
        for body in bodies:
            for number in range(len(how_to_answer(await at.hub.ask(body)))):
                command = how_to_answer(await at.hub.ask(body))[number]
                await at.works(*shlex.split(command.replace('"version": …', '"version": "1.2.0"'))[1:])
