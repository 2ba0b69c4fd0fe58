"""`handraise telegram`: the real command in a terminal, with a Bot API server on loopback."""

import asyncio
import fcntl
import json
import os
import re
import stat
import struct
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pexpect
import pytest
from pexpect.fdpexpect import fdspawn

from api.served import served
from handraise.cli.telegram_setup import code_message
from handraise.model.projects import Options
from handraise.surfaces.telegram.people import Member, TelegramConfig
from surfaces.telegram.bot_api import BOT, TOKEN, BotApi, bot_api
from surfaces.telegram.chats import FakeChat
from surfaces.telegram.people import Someone
from surfaces.terminal.pseudo import CTRL_C, handraise
from surfaces.terminal.ready import Started, start

SETTINGS = "# mine\n[web]\nport = 8421  # free\n"


class SetupDesk:
    """A person's configuration folder, a bot, and a terminal with a command in it."""

    def __init__(self, tmp: Path, api: BotApi) -> None:
        self.api = api
        self.config = tmp / "config" / "handraise.toml"
        self.state = tmp / "state"
        self.config.parent.mkdir(mode=0o700)
        self.write(SETTINGS)
        self.terminal: Any = None
        self.command: Started | None = None

    def write(self, text: str) -> None:
        self.config.write_text(text)
        self.config.chmod(0o600)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HANDRAISE_CONFIG": str(self.config),
            "HANDRAISE_STATE": str(self.state),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
        }

    async def start(self, *words: str) -> None:
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        self.command = await start(handraise("telegram", *words), self.environ, os.getcwd(), (theirs,) * 3)
        os.close(theirs)
        self.terminal = fdspawn(ours, encoding="utf-8", timeout=60)

    async def sees(self, pattern: str) -> re.Match[str]:
        await asyncio.to_thread(self.terminal.expect, pattern)
        match: re.Match[str] = self.terminal.match
        return match

    def type(self, line: str) -> None:
        self.terminal.sendline(line)

    async def code(self) -> str:
        return (await self.sees(r"/start ([A-Z0-9]{8})\s"))[1]

    async def end(self) -> int:
        """The exit code."""
        await asyncio.to_thread(self.terminal.expect, pexpect.EOF)
        assert self.command is not None
        async with asyncio.timeout(60):
            return await self.command.wait()

    async def run(self, *words: str, stdin: str = "", scratch: bool = False) -> tuple[int, str, str]:
        """A command without a terminal. From `scratch`: Python imports it, as for a person."""
        command = (*(("env",) if scratch else ()), *handraise("telegram", *words))
        reading, writing = os.pipe()
        os.write(writing, stdin.encode())
        os.close(writing)
        with open(reading) as given, TemporaryFile() as output, TemporaryFile() as errors:
            files = (given.fileno(), output.fileno(), errors.fileno())
            started = await start(command, self.environ, os.getcwd(), files)
            async with asyncio.timeout(60):
                code = await started.wait()
            for each in (output, errors):
                each.seek(0)
            return code, output.read().decode(), errors.read().decode()

    async def close(self) -> None:
        """Ends what still runs in the terminal."""
        if self.command is not None:
            await self.command.kill()
            self.terminal.close()

    def section(self) -> str:
        return self.config.read_text().partition("[telegram]\n")[2]


@asynccontextmanager
async def at_a_desk(tmp: Path) -> AsyncIterator[SetupDesk]:
    async with bot_api() as api:
        desk = SetupDesk(tmp, api)
        try:
            yield desk
        finally:
            await desk.close()


async def set_up(desk: SetupDesk, person: Someone, to: FakeChat | None = None, topic: int | None = None) -> None:
    """Up to the question whether the person may use the bot."""
    await desk.start("setup", "--api", desk.api.base)
    await desk.sees("Token: ")
    desk.type(TOKEN)
    await desk.sees(f"Connected as @{BOT.username}: https://t.me/{BOT.username}")
    code = await desk.code()
    command = "/start" if to is None else f"/start@{BOT.username}"
    person.write(f"{command} {code}", to, topic)


async def test_from_a_token_to_the_first_message(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        ana = desk.api.someone(1001, "Ana", "Kovac", "anak")
        await set_up(desk, ana)
        await desk.sees(r"Received from Ana Kovac \(@anak, 1001\) in a private chat\.")
        await desk.sees("Let them use the bot as approver")
        desk.type("")
        await desk.sees(r"Their name in Handraise \[Ana Kovac\]: ")
        desk.type("ana")
        await desk.sees("Sent a first message.")
        await desk.sees("Start the hub to use the bot: handraise serve")
        assert await desk.end() == 0

        assert desk.config.read_text().startswith(SETTINGS)
        assert desk.section() == (
            f'allowed = [1001]\nnames = {{1001 = "ana"}}\napi = "{desk.api.base}"\ntoken_file = "telegram-token"\n'
        )
        token = desk.config.parent / "telegram-token"
        assert (token.read_text(), stat.S_IMODE(token.stat().st_mode)) == (f"{TOKEN}\n", 0o600)
        assert ana.private.last.text.startswith("Handraise is connected.")
        assert desk.api.world.updates.unconfirmed, "the hub learns from it that it can write to ana"

        code, output, errors = await desk.run("test")
        assert (code, output, errors) == (0, "1001  sent\n", "")
        code, output, errors = await desk.run("status")
        assert (code, errors) == (0, "")
        assert "user  ana (1001), approver" in output
        assert f"Connected as @{BOT.username}." in output
        assert "No hub is running." in output


async def test_someone_who_is_not_wanted_is_not_added_and_gets_no_message(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        eve = desk.api.someone(1009, "Eve")
        await set_up(desk, eve)
        await desk.sees("Let them use the bot as approver")
        desk.type("n")
        await desk.sees("Nothing was changed.")
        assert await desk.end() == 1
        assert desk.config.read_text() == SETTINGS
        assert eve.private.from_bot == []


async def test_the_token_is_shown_nowhere(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        ana = desk.api.someone(1001, "Ana")
        seen = ""
        await set_up(desk, ana)
        seen += desk.terminal.before
        for answer in ("", "ana"):
            await desk.sees(r"\]: ")
            seen += desk.terminal.before
            desk.type(answer)
        await desk.end()
        _, output, errors = await desk.run("status", "--json")

        assert TOKEN not in seen + desk.terminal.before + output + errors + desk.config.read_text()


async def test_a_group_and_a_topic_are_found_by_the_code(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        ana = desk.api.someone(1001, "Ana")
        forum = desk.api.forum("Shop team", ana)
        topic = forum.open_topic("Requests", ana.account)
        await set_up(desk, ana, forum, topic.number)
        await desk.sees(rf"in the chat “Shop team” \({forum.number}:{topic.number}\)")
        for question, answer in (("approver", "y"), ("name", ""), ("Send requests to this chat", "")):
            await desk.sees(question)
            desk.type(answer)
        assert await desk.end() == 0

        assert f'chats = ["{forum.number}:{topic.number}"]' in desk.section()
        assert forum.last.text.startswith("Handraise is connected.")
        await desk.api.confirmed()
        assert (await desk.run("test"))[:2] == (0, f"{forum.number}:{topic.number}  sent\n")


async def test_another_person_is_added_to_the_bot_that_there_is(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        ana, ben = desk.api.someone(1001, "Ana"), desk.api.someone(1002, "Ben")
        (desk.config.parent / "bot").write_text(TOKEN)
        (desk.config.parent / "bot").chmod(0o600)
        desk.write(
            '[telegram]\ntoken_file = "bot"\nallowed = [1001]  # ana\nnames = {1001 = "ana"}\n'
            f'api = "{desk.api.base}"\n'
        )
        ana.start()
        await desk.start("setup", "--yes", "--role", "viewer")
        code = await desk.code()
        ben.write(f"/start {code.lower()}")
        assert await desk.end() == 0

        assert desk.section() == (
            'token_file = "bot"\nallowed = [1001, 1002]  # ana\nnames = {1001 = "ana", 1002 = "Ben"}\n'
            f'api = "{desk.api.base}"\nroles = {{1002 = "viewer"}}\n'
        )


async def test_a_wrong_token_can_be_typed_again_and_then_it_is_given_up(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        await desk.start("setup", "--api", desk.api.base)
        await desk.sees("Token: ")
        desk.type("nonsense")
        await desk.sees("This isn't a bot token")
        await desk.sees("Token: ")
        desk.type("1:abcdefghijklmnopqrstuvwxyz")
        await desk.sees("Telegram rejects this token")
        await desk.sees("Token: ")
        desk.type("2:abcdefghijklmnopqrstuvwxyz")
        await desk.sees("Error: Telegram rejects this token. Copy it again")
        assert await desk.end() == 1
        assert desk.config.read_text() == SETTINGS


async def test_ctrl_c_changes_nothing(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        await desk.start("setup", "--api", desk.api.base)
        await desk.sees("Token: ")
        desk.type(TOKEN)
        await desk.sees("Press Ctrl-C to cancel")
        desk.terminal.send(CTRL_C)
        await desk.sees("Canceled. Nothing was changed.")
        assert await desk.end() == 130
        assert desk.config.read_text() == SETTINGS
        assert not (desk.config.parent / "telegram-token").exists()


async def test_a_token_comes_from_a_pipe_or_a_private_file(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        code, _, errors = await desk.run("setup", "--api", desk.api.base, "--timeout", "1", stdin=f"{TOKEN}\n")
        assert (code, "nobody sent it in time. Nothing was changed." in errors) == (1, True)

        file = tmp_path / "bot"
        file.write_text(TOKEN)
        file.chmod(0o644)
        code, _, errors = await desk.run("setup", "--token-file", str(file))
        assert (code, f"Run: chmod 600 {file}" in errors) == (1, True)

        file.chmod(0o600)
        ana = desk.api.someone(1001, "Ana")
        await desk.start("setup", "--token-file", str(file), "--api", desk.api.base, "--yes")
        ana.write(f"/start {await desk.code()}")
        assert await desk.end() == 0
        assert f'token_file = "{file}"' in desk.section()


async def test_a_second_program_that_polls_is_told_and_setup_goes_on_without_it(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        ana = desk.api.someone(1001, "Ana")
        desk.api.conflict(3)
        await desk.start("setup", "--api", desk.api.base, "--yes")
        await desk.sees("Token: ")
        desk.type(TOKEN)
        code = await desk.code()
        await desk.sees("is receiving this bot's messages")
        ana.write(f"/start {code}")
        await desk.sees("Received from Ana")
        assert await desk.end() == 0


async def test_a_running_hub_with_the_same_bot_is_named_by_setup_and_status(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        desk.write(f"[telegram]\ntoken = '{TOKEN}'\nallowed = [1001]\napi = '{desk.api.base}'\n")
        desk.api.someone(1001, "Ana").start()
        config = TelegramConfig(TOKEN, (Member(1001, "ana", "admin"),), api=desk.api.base)
        async with served(tmp_path, telegram=config) as hub, hub.client("viewer") as client:
            while not (await client.get("/api/telegram")).json()["bot"]:
                await asyncio.sleep(0.02)
            code, _, errors = await desk.run("setup", "--yes")
            assert (code, "The running hub uses @" in errors, "Stop the hub, run this again" in errors) == (
                1,
                True,
                True,
            )
            code, output, _ = await desk.run("status")
            assert (code, f"hub   The running hub is connected as @{BOT.username}." in output) == (0, True)


async def test_a_project_must_exist_whether_or_not_a_hub_is_running(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        missing = "Error: Unknown project: shpo."
        advice = "There are no projects yet. Start the hub and add one: handraise project add DIRECTORY"
        assert await desk.run("setup", "--project", "shpo") == (1, "", f"{missing} {advice}\n")

        async with served(tmp_path) as hub:
            for name in ("shop", "blog"):
                (tmp_path / name).mkdir()
                await hub.up.hub.desk.add_project(str(tmp_path / name), name, Options())
            assert await desk.run("setup", "--project", "shpo") == (1, "", f"{missing} Projects: blog, shop.\n")

        assert await desk.run("setup", "--project", "shpo") == (1, "", f"{missing} Projects: blog, shop.\n")
        assert desk.config.read_text() == SETTINGS
        ana = desk.api.someone(1001, "Ana")
        await desk.start("setup", "--project", "shop", "--api", desk.api.base, "--yes")
        await desk.sees("Token: ")
        desk.type(TOKEN)
        ana.write(f"/start {await desk.code()}")
        assert await desk.end() == 0
        assert "routes = {shop = 1001}" in desk.section()


async def test_what_cannot_be_merged_is_printed_instead(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        ana = desk.api.someone(1001, "Ana")
        text = f"telegram.api = '{desk.api.base}'\n"
        desk.write(text)
        await desk.start("setup", "--yes")
        await desk.sees("Token: ")
        desk.type(TOKEN)
        ana.write(f"/start {await desk.code()}")
        await desk.sees("was not changed")
        await desk.sees(r"Add these lines to it:\s+\[telegram\]\s+allowed = \[1001\]")
        assert await desk.end() == 1
        assert desk.config.read_text() == text


async def test_other_messages_are_ignored(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        ana = desk.api.someone(1001, "Ana")
        await desk.start("setup", "--api", desk.api.base, "--yes")
        await desk.sees("Token: ")
        desk.type(TOKEN)
        code = await desk.code()
        ana.write("hello")
        ana.write(code)
        ana.write("/start WRONGONE")
        ana.write(f"/start {code}")
        await desk.sees("Received from Ana")
        assert await desk.end() == 0


async def test_without_a_bot_the_way_to_one_is_told(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        for command in ("test", "status"):
            code, _, errors = await desk.run(command)
            assert (code, errors) == (1, "Error: There is no bot yet. Run: handraise telegram setup\n")


@pytest.mark.parametrize("command", ["test", "status"])
async def test_a_chat_that_cannot_be_reached_is_told(tmp_path: Path, command: str) -> None:
    async with at_a_desk(tmp_path) as desk:
        desk.write(f"[telegram]\ntoken = '{TOKEN}'\nallowed = [1001]\nchats = [-100999]\napi = '{desk.api.base}'\n")
        code, output, errors = await desk.run(command)
        assert code == 1
        assert "chat not found" in output + errors
        assert TOKEN not in output + errors


async def test_an_api_that_is_not_there_is_told_and_a_status_is_json(tmp_path: Path) -> None:
    async with at_a_desk(tmp_path) as desk:
        desk.write(f"[telegram]\ntoken = '{TOKEN}'\nallowed = [1001]\napi = 'http://127.0.0.1:9'\n")
        code, output, _ = await desk.run("status", "--json", scratch=True)
        assert code == 1
        assert json.loads(output)["findings"][0]["sentence"] == "Can't reach http://127.0.0.1:9: Connection refused."
        assert (await desk.run("test", "--api", "bots.example"))[0] == 2


def test_an_anonymous_admin_is_asked_to_write_as_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    message = {"text": "/start ABCDEFGH", "from": anonymous, "chat": {"id": -100200, "type": "supergroup"}}

    assert code_message(message, "ABCDEFGH") is None
    assert "Send it as yourself." in capsys.readouterr().out


def test_a_name_cannot_draw_on_the_terminal() -> None:
    sender = {"id": 5, "is_bot": False, "first_name": "A\x1b[2Jna\u202e", "username": "a"}
    found = code_message({"text": "/start ABCDEFGH", "from": sender, "chat": {"id": 5, "type": "private"}}, "ABCDEFGH")

    assert found is not None
    assert found.sender == "A⟨U+001B⟩[2Jna⟨U+202E⟩ (@a, 5)"
