"""The terminal's title and desktop notifications."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.answers import Allow
from handraise.surfaces.terminal.announcing import Announcements, Announcer, announcements, notification, title
from handraise.surfaces.terminal.lines import width_of
from surfaces.terminal.asked import NPM
from surfaces.terminal.hostile import CORPUS
from surfaces.terminal.pseudo import CTRL_D, Pseudo
from surfaces.terminal.table import table

PUSH, POP = b"\x1b[22;0t", b"\x1b[23;0t"
NOTICE = re.compile(rb"\x1b\]9;([^\x07]*)\x07")


@pytest.mark.parametrize(
    ("environment", "protocol"),
    [
        ({"TERM": "xterm-256color"}, "osc9"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, "osc777"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "rxvt-unicode-256color"}, "osc777"),
        ({"TERM": "linux"}, None),
        ({}, None),
    ],
)
def test_a_terminal_gets_the_sequence_that_it_knows(environment: dict[str, str], protocol: str | None) -> None:
    assert announcements(True, "on", environment).notifications == protocol
    assert announcements(True, "off", environment).notifications is None
    assert announcements(True, "osc9", environment).title is (protocol is not None)


def test_a_named_sequence_is_used_as_it_is() -> None:
    assert announcements(False, "osc777", {"TERM": "xterm"}) == Announcements(False, "osc777")


def test_a_notification_says_how_many_and_nothing_else() -> None:
    assert notification(1, "osc9") == "\x1b]9;1 request needs you.\x07"
    assert notification(2, "osc777") == "\x1b]777;notify;Handraise;2 requests need you.\x07"


@given(st.one_of(st.text(), st.sampled_from(sorted(CORPUS.values()))))
def test_no_text_leaves_the_title(text: str) -> None:
    written = title(text)
    inside = written.removeprefix("\x1b]0;").removesuffix("\x07")
    assert written == f"\x1b]0;{inside}\x07"
    assert inside.isprintable()
    assert width_of(inside) <= 60


def test_the_title_is_written_once_and_restored_once() -> None:
    written: list[str] = []
    announcer = Announcer(Announcements(title=True), written.append)
    for text in ("one", "one", "two"):
        announcer.show(text)
    announcer.restore()
    announcer.restore()
    assert "".join(written) == "\x1b[22;0t\x1b]0;one\x07\x1b]0;two\x07\x1b]0;\x07\x1b[23;0t"


def test_nothing_is_written_unless_it_is_wanted() -> None:
    written: list[str] = []
    announcer = Announcer(Announcements(), written.append)
    announcer.show("one")
    announcer.notify(1)
    announcer.restore()
    assert written == []


async def test_the_title_says_how_many_need_you_and_is_restored(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session(title="Fix \x1b]0;pwned\x07\u202ethe tests")
        async with laid.terminal("attach", "s_1") as terminal:
            await terminal.wait(lambda: bool(terminal.emulator.titles), "a title")
            assert terminal.emulator.titles[-1].startswith("handraise · Fix ⟨U+001B⟩]0,pwned⟨U+0007⟩⟨U+202E⟩the")
            ask = await laid.ask(NPM, session="s_1")
            await terminal.wait(lambda: terminal.emulator.titles[-1].startswith("handraise: 1 needs you"), "one")
            await laid.answer(ask, Allow())
            await terminal.wait(lambda: terminal.emulator.titles[-1].startswith("handraise · "), "none")
            assert terminal.raw.count(PUSH) == 1
            assert POP not in terminal.raw
            terminal.type(CTRL_D)
            assert await terminal.end() == 0
            assert terminal.emulator.titles[-1] == ""
            assert terminal.raw.count(POP) == 1
            assert NOTICE.search(terminal.raw) is None


async def test_new_requests_send_a_notification_if_it_is_switched_on(tmp_path: Path) -> None:
    settings = tmp_path / "handraise.toml"
    settings.write_text('[terminal]\ntitle = false\nnotifications = "on"\n')
    settings.chmod(0o600)
    environment = {"HANDRAISE_CONFIG": str(settings)}
    async with table(tmp_path) as laid:
        await laid.ask(NPM)
        async with (
            laid.terminal("inbox", environment=environment) as terminal,
            laid.terminal("inbox", "--no-notify", environment=environment) as silent,
            laid.terminal("inbox", "--notify", "--plain") as plain,
        ):
            for each in (terminal, silent, plain):
                await each.until("Run `npm test`?")
            await laid.ask(NPM)
            await laid.ask(NPM)
            for each in (terminal, plain):
                await told(each, b"3 requests need you.")
                # Those that were open before aren't announced.
                assert b"1 request needs you." not in NOTICE.findall(each.raw)
            await silent.until("of 3")
            assert NOTICE.search(silent.raw) is None
            assert terminal.emulator.titles == []


async def told(terminal: Pseudo, text: bytes) -> None:
    await terminal.wait(lambda: text in NOTICE.findall(terminal.raw), "a notification")


async def test_settings_that_cannot_be_read_keep_nobody_out(tmp_path: Path) -> None:
    settings = tmp_path / "handraise.toml"
    settings.write_text("[terminal]\ntitel = false\n")
    settings.chmod(0o600)
    async with table(tmp_path) as laid, laid.terminal("inbox", environment={"HANDRAISE_CONFIG": str(settings)}) as seen:
        await seen.until("titel", "Using defaults for [terminal].", "Nothing needs you.")
