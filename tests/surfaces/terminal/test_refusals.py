"""A hub that refuses, a reader that goes away, a newer hub: reported in a sentence, with the screen intact."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from msgspec import Struct

from handraise.model.actors import Person
from handraise.model.answers import Allow
from surfaces.terminal.asked import NPM
from surfaces.terminal.pseudo import CTRL_C, CTRL_D, DEADLINE, handraise
from surfaces.terminal.ready import Started, start
from surfaces.terminal.table import Table, table

READY = "Esc to postpone"


async def token(laid: Table, role: Literal["viewer", "approver"]) -> tuple[str, dict[str, str]]:
    assert laid.up is not None
    made = await laid.up.auth.make("laptop", role, Person("ann"), "test")
    far = {
        "HANDRAISE_STATE": str(laid.tmp / "elsewhere"),
        "HANDRAISE_TOKEN": made.secret,
        "HANDRAISE_HUB": laid.up.base,
    }
    return made.token.id, far


async def test_who_may_only_look_is_told_so_and_goes_on_looking(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        ask = await laid.ask(NPM, session="s_1")
        _, far = await token(laid, "viewer")
        async with laid.terminal("attach", "s_1", environment=far) as terminal:
            await terminal.until("Run `npm test`?", READY)
            await terminal.confirm("a")
            await terminal.until("Requires the approver role", READY)
            terminal.type(CTRL_C)
            await terminal.until("Interrupting the turn", "Requires the approver role (you are a viewer)")
            await laid.answer(ask, Allow())
            await terminal.until("ann allowed", gone="Allow once")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0


async def test_a_token_that_is_revoked_ends_the_stay_with_the_reason(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        identity, far = await token(laid, "approver")
        async with laid.terminal("attach", "s_1", environment=far) as terminal:
            await laid.ask(NPM, session="s_1")
            await terminal.until("Run `npm test`?", READY)
            assert laid.up is not None
            await laid.up.auth.revoke(identity, Person("ann"), "test")
            assert await terminal.end() == 4
            assert "This token is unknown, revoked or expired." in terminal.screen
            assert "Traceback" not in terminal.everything
            assert terminal.modes() == terminal.before


class UnattendedDesk:
    """The command without a terminal."""

    def __init__(self, started: Started, errors: int) -> None:
        self._started = started
        self._errors = errors

    async def end(self) -> tuple[int, bytes]:
        """Its exit code and output."""
        result = await asyncio.to_thread(self._read)
        return await self._started.wait(), result

    def _read(self) -> bytes:
        with open(self._errors, "rb", closefd=False) as errors:
            return errors.read()


@asynccontextmanager
async def unattended(laid: Table, *arguments: str, stdout: int) -> AsyncIterator[UnattendedDesk]:
    environment = {"PATH": os.environ["PATH"], "HANDRAISE_STATE": str(laid.state), "HOME": str(laid.tmp)}
    heard, text = os.pipe()
    with open(os.devnull, "rb") as nothing:
        started = await start(handraise(*arguments), environment, os.getcwd(), [nothing.fileno(), stdout, text])
    os.close(text)
    try:
        async with asyncio.timeout(DEADLINE):
            yield UnattendedDesk(started, heard)
    finally:
        await started.kill()
        os.close(heard)


@pytest.mark.parametrize("arguments", [["attach", "s_1"], ["attach", "s_1", "--json"]])
async def test_a_reader_that_has_enough_ends_the_command_and_not_the_session(
    tmp_path: Path, arguments: list[str]
) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        await laid.publish("One.")
        heard, text = os.pipe()
        async with unattended(laid, *arguments, stdout=text) as started:
            os.close(text)
            await asyncio.to_thread(os.read, heard, 1)
            os.close(heard)
            await laid.publish("Two.")
            code, errors = await started.end()
            assert code == 1
            assert b"Traceback" not in errors
            assert (b"Come back with: handraise attach s_1" in errors) == ("--json" not in arguments)


@pytest.mark.parametrize("arguments", [["attach", "s_1"], ["ps"], ["ps", "--json"]])
async def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        await laid.publish("One.")
        with open("/dev/full", "wb") as full:
            async with unattended(laid, *arguments, stdout=full.fileno()) as started:
                code, errors = await started.end()
                assert code == 1
                assert b"Can't write the output: No space left on device." in errors
                assert b"Traceback" not in errors


@pytest.mark.parametrize("arguments", [["ps"], ["ps", "--json"], ["inbox"], ["inbox", "--json"]])
async def test_a_list_that_nobody_reads_is_no_error_to_speak_of(tmp_path: Path, arguments: list[str]) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        await laid.ask(NPM, session="s_1")
        heard, text = os.pipe()
        os.close(heard)
        async with unattended(laid, *arguments, stdout=text) as started:
            os.close(text)
            code, errors = await started.end()
            assert code == 1
            assert errors == b""


class Sang(Struct, frozen=True, tag_field="type", tag="session.sang"):
    """Something that this version knows nothing of."""

    song: str


async def test_what_a_newer_hub_says_and_nobody_here_knows_is_passed_over(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1") as terminal:
            await laid.publish("Before.", Sang("la"), "After.")  # type: ignore[arg-type]
            await terminal.until("Before.", "After.")


async def test_without_a_terminal_the_inbox_is_listed_with_how_to_answer(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        assert await listed(laid) == "Nothing needs you.\n"
        async with laid.terminal("inbox", "--json") as terminal:
            assert await terminal.end() == 0
            assert terminal.lines == []
        ask = await laid.ask(NPM)
        assert f"handraise answer {ask.id} --allow" in await listed(laid)
        async with laid.terminal("inbox", "--json") as terminal:
            assert await terminal.end() == 0
            assert f'{{"id":"{ask.id}"' in terminal.screen


async def listed(laid: Table) -> str:
    """The inbox as it is printed into a pipe, without an error."""
    heard, text = os.pipe()
    with open(heard, "rb") as out:
        async with unattended(laid, "inbox", stdout=text) as started:
            os.close(text)
            printed = await asyncio.to_thread(out.read)
            assert await started.end() == (0, b"")
    return printed.decode()
