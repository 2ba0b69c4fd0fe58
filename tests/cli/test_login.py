"""Saved sign-ins: every command uses that hub, and no token goes anywhere else or can be read by others."""

import asyncio
import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from api.served import served
from client.odd_server import odd_server, responding
from handraise.cli.commands import COMMANDS
from handraise.cli.login import is_readable_on_the_way
from handraise.cli.main import main
from handraise.client.logins import HubChoice, LoginsUnfit, choose_hub, logins_file, read_logins
from handraise.model.asks import Permission

LS = Permission("Bash", {"command": "ls"})
HERE = (
    "serve",
    "demo",
    "doctor",
    "store",
    "replay",
    "telegram",
    "mcp",
    "backup",
    "restore",
    "completion",
    "login",
    "logout",
    "hub",
    "service",
)
"""Commands that are about this machine."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with nothing saved, and no hub of their own."""
    for name in ("HANDRAISE_HUB", "HANDRAISE_TOKEN", "HANDRAISE_STATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "none"))
    return tmp_path


async def typed(*words: str, stdin: str | None = None) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, main, words, stdin)


def test_only_this_very_machine_needs_no_https() -> None:
    nearby = ("http://127.0.0.1:4190", "http://localhost", "http://[::1]:4190", "https://hub.example")
    elsewhere = (
        "http://hub.example",
        "http://127.0.0.1.hub.example",
        "http://localhost.example",
        "http://localhost@hub",
    )
    assert not any(map(is_readable_on_the_way, nearby))
    assert all(map(is_readable_on_the_way, elsewhere))


def test_every_command_that_talks_to_a_hub_takes_its_address() -> None:
    without = []
    for name in set(COMMANDS) - set(HERE):
        command = main.get_command(click.Context(main), name)
        inside = [command]
        while any(isinstance(each, click.Group) for each in inside):
            several = [each.commands.values() if isinstance(each, click.Group) else [each] for each in inside]
            inside = [each for group in several for each in group]
        without += [(name, each.name) for each in inside if each and "hub" not in {one.name for one in each.params}]
    # A copied state folder gets its own identity where it is.
    assert without == [("machines", "new-identity")]


async def test_after_a_login_every_command_uses_that_hub_until_the_logout(home: Path) -> None:
    async with served(home) as hub:
        assert (await typed("ps")).exit_code == 3
        token = await hub.token("admin")
        done = await typed("login", f"{hub.up.base}/", stdin=f"{token}\n")
        assert (done.exit_code, f"Signed in to {hub.up.base} as a admin (admin)." in done.output) == (0, True)
        file = Path(logins_file())
        assert file.stat().st_mode & 0o777 == 0o600
        assert token not in done.output
        session = await hub.session()
        ask = await hub.ask(LS)
        for words, expected in (
            (["ps"], session.title),
            (["inbox"], f"handraise answer {ask.id} --allow"),
            (["rules", "list"], "No rules."),
            (["project", "list"], ""),
            (["token", "list"], "a admin"),
            (["audit"], "token"),
            (["trust"], "No decisions yet."),
            (["machines"], "online"),
            (["show", session.id], session.title),
            (["answer", ask.id, "--deny", "No."], "Answered."),
        ):
            done = await typed(*words)
            assert (done.exit_code, expected in done.output) == (0, True), (words, done.output)
        # This machine's own hub is still there for who names it.
        for words in (["ps", "--hub", "local"], ["ps", "--state", str(home / "none")]):
            assert (await typed(*words)).exit_code == 3
        assert (await typed("run", "x")).exit_code == 2
        assert "Use --project NAME" in (await typed("run", "x")).output
        assert hub.up.base in (await typed("login")).output
        assert (await typed("logout")).output == f"Signed out of {hub.up.base}.\n"
        assert (await typed("ps")).exit_code == 3
        assert read_logins().tokens == {}


async def test_a_token_that_is_refused_is_not_saved_and_one_that_was_revoked_says_how_to_sign_in_again(
    home: Path,
) -> None:
    async with served(home) as hub:
        wrong = await typed("login", hub.up.base, stdin="nonsense\n")
        assert (wrong.exit_code, "doesn't accept this token" in wrong.output) == (4, True)
        assert not Path(logins_file()).exists()
        assert (await typed("login", "http://127.0.0.1:1", stdin="x\n")).exit_code == 3
        assert (await typed("login", "hub.example", stdin="x\n")).exit_code == 2
        assert (await typed("login", hub.up.base, stdin="\n")).exit_code == 2
        await typed("login", hub.up.base, stdin=await hub.token("viewer"))
        [token] = [each for each in await hub.up.auth.tokens() if each.name == "a viewer"]
        neighbour = await typed("token", "revoke", token.id, "--state", str(hub.state))
        assert neighbour.exit_code == 0
        refused = await typed("ps")
        assert refused.exit_code == 4
        assert f"Sign in with: handraise login {hub.up.base}" in refused.output


async def test_a_token_is_only_sent_to_the_hub_that_it_was_saved_for(home: Path) -> None:
    empty = b"HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\n" + b'{"sessions":[],"next":null}'.ljust(32)
    async with served(home) as hub, odd_server(responding(empty)) as other:
        token = await hub.token("viewer")
        await typed("login", hub.up.base, stdin=token)
        assert (await typed("ps", "--hub", str(other.where))).exit_code == 0
        assert other.heads
        assert all("uthorization" not in head for head in other.heads)


def test_the_options_win_over_the_variables_and_these_over_what_is_saved(home: Path) -> None:
    file = Path(logins_file())
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"hub": "http://saved", "tokens": {"http://saved": "t1", "http://named": "t2"}}))
    file.chmod(0o600)

    def chosen(state: str | None, hub: str | None, **variables: str) -> tuple[str | None, str | None]:
        environ = {"XDG_CONFIG_HOME": str(home / "config"), **variables}
        found: HubChoice = choose_hub(state, hub, environ)
        return found.address, found.token

    assert chosen(None, None) == ("http://saved", "t1")
    assert chosen(None, "http://named/") == ("http://named", "t2")
    assert chosen(None, "http://other") == ("http://other", None)
    assert chosen(None, "http://other", HANDRAISE_TOKEN="t3") == ("http://other", "t3")
    assert chosen("/state", None, HANDRAISE_HUB="http://named") == (None, None)
    assert chosen(None, None, HANDRAISE_HUB="http://named", HANDRAISE_STATE="/x") == ("http://named", "t2")
    assert chosen(None, None, HANDRAISE_STATE="/x") == (None, None)
    assert chosen(None, "local", HANDRAISE_HUB="http://named") == (None, None)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"hub": 1, "tokens": {}}', '{"hub": null, "tokens": {"a": 1}}'])
def test_a_damaged_file_is_named_and_one_that_others_can_read_is_refused(home: Path, content: str) -> None:
    file = Path(logins_file())
    file.parent.mkdir(parents=True)
    file.write_text(content)
    file.chmod(0o600)
    with pytest.raises(LoginsUnfit, match="is damaged"):
        read_logins()
    file.chmod(0o644)
    with pytest.raises(LoginsUnfit, match="chmod 600"):
        read_logins()
    done = CliRunner().invoke(main, ["ps"])
    assert (done.exit_code, "chmod 600" in done.output) == (1, True)


async def test_nobody_has_to_be_signed_in_to_see_where_they_are(home: Path) -> None:
    assert "You aren't signed in anywhere." in (await typed("login")).output
    assert (await typed("logout")).exit_code == 2
    assert home.exists()
