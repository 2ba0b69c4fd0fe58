"""The bot's commands: how they are read, and what is said about those that don't exist."""

import re

import pytest

from handraise.model.projects import Project
from handraise.surfaces.telegram import commands
from handraise.surfaces.telegram.commands import CommandLine, NewRequest

SHOP = Project("p_shop", "shop", "/work/shop")
SHOP_API = Project("p_api", "shop api", "/work/shop-api")
PROJECTS = (SHOP, SHOP_API)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("/new", CommandLine("new")),
        ("/new fix it", CommandLine("new", "fix it")),
        ("/new\nfix\n  it", CommandLine("new", "fix\n  it")),
        ("/NEW fix it", CommandLine("new", "fix it")),
        ("/new@handraise_bot fix it", CommandLine("new", "fix it")),
        ("/new@HandRaise_Bot", CommandLine("new")),
        ("/new@another_bot fix it", None),
        ("/resume_1a", CommandLine("resume_1a")),
        ("/unknown x", CommandLine("unknown", "x")),
        ("new fix it", None),
        (" /new", None),
        ("/", None),
        ("/etc/hosts is broken", None),
        ("/new-thing", None),
        ("//new", None),
        ("", None),
        (f"/{'x' * 33}", None),
    ],
)
def test_a_command_is_read(text: str, read: CommandLine | None) -> None:
    assert commands.parse(text, "handraise_bot") == read


def test_a_command_for_any_bot_is_read_while_our_own_name_is_unknown() -> None:
    assert commands.parse("/new@some_bot go") == CommandLine("new", "go")


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        ("fix it", NewRequest(None, "fix it")),
        ("shop fix it", NewRequest(SHOP, "fix it")),
        ("Shop: fix it", NewRequest(SHOP, "fix it")),
        ("shop\nfix it", NewRequest(SHOP, "fix it")),
        ("shop", NewRequest(SHOP, "")),
        ("shop api fix it", NewRequest(SHOP_API, "fix it")),
        ("shopping list", NewRequest(None, "shopping list")),
        ("p_api fix it", NewRequest(SHOP_API, "fix it")),
        ("/work/shop fix it", NewRequest(SHOP, "fix it")),
        ("/work/shop-api/x fix it", NewRequest(None, "/work/shop-api/x fix it")),
        ("", NewRequest(None, "")),
    ],
)
def test_a_new_session_may_name_its_project(rest: str, wanted: NewRequest) -> None:
    assert commands.new_request(rest, PROJECTS) == wanted


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sesions", "Unknown command /sesions. Did you mean /sessions?"),
        (
            "xyzzy",
            "Unknown command /xyzzy. Available: /new /sessions /inbox /mode /interrupt /stop /resume /mute /help",
        ),
    ],
)
def test_an_unknown_command_is_answered_with_what_exists(name: str, sentence: str) -> None:
    assert commands.known(name) is None
    assert commands.unknown(name) == sentence


def test_every_command_has_a_description_that_telegram_accepts() -> None:
    for name, about in commands.menu():
        assert re.fullmatch("[a-z0-9_]{1,32}", name)
        assert 1 <= len(about) <= 256
        assert f"/{name} – {about}" in commands.help_text()


def test_opening_the_bot_shows_the_help() -> None:
    assert commands.known("start") == "help"


def test_each_command_needs_the_role_that_its_act_needs_in_the_api() -> None:
    needed = {name: commands.role_for(name) for name in commands.COMMANDS}
    assert {name for name, role in needed.items() if role == "admin"} == {"new", "mode", "stop", "resume"}
    assert {name for name, role in needed.items() if role == "approver"} == {"interrupt", "mute"}


@pytest.mark.parametrize(
    ("name", "mode"),
    [("plan", "plan"), (" Plan ", "plan"), ("acceptedits", "acceptEdits"), ("bypassPermissions", None), ("x", None)],
)
def test_a_mode_is_named_in_any_case_and_none_that_never_asks(name: str, mode: str | None) -> None:
    assert commands.mode_named(name) == mode
    assert commands.NEVER_ASKS not in commands.OFFERED_MODES


@pytest.mark.parametrize(
    ("rest", "muted", "wanted"),
    [("", False, True), ("", True, False), ("on", True, True), ("off", True, False), ("OFF", False, False)],
)
def test_mute_switches_unless_it_says_which(rest: str, muted: bool, wanted: bool) -> None:
    assert commands.wants_mute(rest, muted=muted) is wanted
