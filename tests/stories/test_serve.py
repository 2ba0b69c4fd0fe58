"""Stories of `handraise serve`: started, stopped, started again, and refused."""

import asyncio
import json
import signal
import socket
import ssl
import sys
from pathlib import Path

import httpx2
import pexpect
import pytest

from api.certificates import make_certificate
from api.events import feed
from cli.hostile_process import stage
from handraise.claude.locate import locate
from handraise.claude.process import Identity
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.interface import Desk
from handraise.desk.remote import RemoteDesk
from handraise.hub.hub import HubConfig, hub
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask
from handraise.model.items import Content, Text, TurnEnded
from stories.serving_house import HubChild, command, desk, serve, settle_in, surroundings

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


NAMES = 'allowed_hosts = ["Hub.example", "other.example"]\n'


def choose(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
        conversation = yield [say(f"Heard: {conversation.result().text}")]


async def test_a_session_outlives_hubs_that_are_told_to_stop_and_ends_with_one_that_is_to_stop_it(
    tmp_path: Path,
) -> None:
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model:
        environ = surroundings(tmp_path, model.url("choose"))
        async with serve(tmp_path, environ) as first, desk(tmp_path) as owner:
            session = (await owner.start("Choose a database.", str(tmp_path / "work"))).session
            ask = await next_ask(owner, session.id)
            await until_nothing_lags_behind(first)
            await stop_under_an_open_page(first, signal.SIGTERM)
        assert not (tmp_path / "state" / "hub.sock").exists()
        assert (await command(environ, "ps"))[0] == 3

        async with serve(tmp_path, environ) as second:
            assert "Reattached 1 session" in second.output
            assert "Lost" not in second.output
            await until_nothing_lags_behind(second)
            await stop_under_an_open_page(second, signal.SIGINT)
        assert not (tmp_path / "state" / "hub.sock").exists()

        async with serve(tmp_path, environ, "--stop-sessions") as third, desk(tmp_path) as owner:
            assert "Reattached 1 session" in third.output
            assert "Lost" not in third.output
            code, text = await command(environ, "answer", ask.id, "--choose", "SQLite")
            assert (code, text) == (0, "Answered.\n")
            contents = await until(owner, TurnEnded)
            assert any(isinstance(each, Text) and "SQLite" in each.text for each in contents)
            code, text = await command(environ, "answer", ask.id, "--choose", "Postgres")
            assert code == 4
            assert "Already answered by owner (terminal): SQLite." in text
            assert (await command(environ, "answer", "a_none", "--choose", "x"))[0] == 1
            assert (await command(environ, "answer", ask.id, "--allow"))[0] in (1, 2, 4)

            await owner.say(session.id, "Once more.")
            open_ask = await next_ask(owner, session.id)
            record = json.loads((tmp_path / "state" / "sessions" / session.id / "1" / "launch.json").read_bytes())
            claude = Identity.of(record["pid"])
            assert claude is not None
            assert claude.lives()
            await third.stop()
        assert not claude.lives()
        async with hub(HubConfig(tmp_path / "state", locate(), environ)) as last:
            ended = (await last.desk.session(session.id)).session.ended
            assert ended is not None
            assert ended.how == "stopped"
            assert (await last.desk.ask(open_ask.id)).state == "withdrawn"
        assert third.errors.read_text() == ""
        assert model.errors == []


async def until_nothing_lags_behind(up: HubChild) -> None:
    """While Claude waits for a person."""
    bearer = {"authorization": f"Bearer {up.token('prometheus', 'viewer')}"}
    async with httpx2.AsyncClient(base_url=up.base, headers=bearer) as client, asyncio.timeout(60):
        while "handraise_journal_lag_bytes 0.0" not in (await client.get("/metrics")).text:
            await asyncio.sleep(0.05)
        response = (await client.get("/metrics")).text
    assert 'handraise_asks_open{kind="question"} 1.0' in response
    assert 'handraise_sessions{phase="working"} 1.0' in response


async def stop_under_an_open_page(up: HubChild, number: signal.Signals) -> None:  # lesson 52
    async with httpx2.AsyncClient(base_url=up.base, timeout=30) as browser:
        assert (await browser.get(up.link)).status_code == 303
        async with feed(browser) as stream:
            await anext(stream)
            assert await up.stop(number) < 5


async def test_what_keeps_a_hub_from_coming_up_is_said(tmp_path: Path) -> None:
    record, exposed, strange = tmp_path / "kept", tmp_path / "exposed", tmp_path / "strange.toml"
    exposed.mkdir()
    exposed.chmod(0o755)
    strange.write_text("[web]\nprot = 1\n")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    swapped = tmp_path / "swapped.toml"
    swapped.write_text(f'[web]\ntls_cert = "{key}"\ntls_key = "{certificate}"\n')
    settle_in(tmp_path, f'[store]\ndatabase = "{record / "by-settings.db"}"\n')
    environ = surroundings(tmp_path)
    other = {**environ, "HANDRAISE_STATE": str(tmp_path / "other")}
    elsewhere = {**other, "HANDRAISE_STORE_DATABASE": str(record / "other.db")}
    in_the_clear = {**other, "HANDRAISE_STORE_DATABASE": str(record / "in-the-clear.db")}
    async with serve(tmp_path, environ) as up:
        assert (record / "by-settings.db").exists()
        assert not (tmp_path / "state" / "hub.db").exists()
        port = up.base.rpartition(":")[2]
        postgres = ("--database", "postgresql://ana:secret@db.example/hub")
        cases: list[tuple[dict[str, str], tuple[str, ...], list[str]]] = [
            (environ, (), [f"process {up.child.pid}", up.base]),
            (other, (), [f"A hub is already running on {record / 'by-settings.db'} (process {up.child.pid})"]),
            (elsewhere, ("--port", port), [f"Port {port} is in use"]),
            (in_the_clear, ("--host", "0.0.0.0"), ["without TLS would expose the hub"]),
            ({**elsewhere, "HANDRAISE_CONFIG": str(swapped)}, (), ["aren't a certificate and its key"]),
            ({**elsewhere, "HANDRAISE_CONFIG": str(strange)}, (), ["port"]),
            ({**elsewhere, "HANDRAISE_STATE": str(exposed)}, (), ["Make it private: chmod 700"]),
            ({**elsewhere, "HANDRAISE_STATE": str(tmp_path / ("x" * 100))}, (), ["too long for a socket"]),
            (other, postgres, ["--database: other users can see a password on the command line."]),
            (
                {**other, "HANDRAISE_STORE_DATABASE": str(exposed / "hub.db")},
                (),
                [f"Other users can read {exposed}. Make it private"],
            ),
        ]
        with stage() as at:
            tried = await asyncio.to_thread(
                at.tried,
                [{"words": ["serve", "--port", "0", *options], "env": each} for each, options, _ in cases],
            )
        for (case, code, out, err), (_, _, wanted) in zip(tried, cases, strict=True):
            assert code in (1, 5), (case, code, out, err)  # 5 is a port that is taken
            assert "Traceback" not in err
            assert "secret" not in err
            for each in wanted:
                assert each in err, (case, err)
        assert not (record / "in-the-clear.db").exists()
        assert await up.stop() < 5


async def test_the_variable_is_over_the_settings_and_the_command_line_over_both(tmp_path: Path) -> None:
    record = tmp_path / "kept"
    settle_in(tmp_path, f'[store]\ndatabase = "{record / "by-settings.db"}"\n')
    environ = surroundings(tmp_path)
    environ["HANDRAISE_STORE_DATABASE"] = str(record / "by-variable.db")
    async with serve(tmp_path, environ) as up:
        assert (record / "by-variable.db").exists()
        code, text = await command(environ, "doctor")
        assert code == 0
        assert f'store.database = "{record / "by-variable.db"}"' in text
        await up.stop()
    (record / "by-variable.db").unlink()
    async with serve(tmp_path, environ, "--database", f"sqlite://{record / 'by-option.db'}") as up:
        assert (record / "by-option.db").exists()
        await up.stop()
    assert not (record / "by-variable.db").exists()
    assert not (record / "by-settings.db").exists()
    assert not (tmp_path / "state" / "hub.db").exists()


async def test_behind_a_proxy_it_listens_beyond_this_machine_and_links_go_to_the_proxy(tmp_path: Path) -> None:
    settle_in(tmp_path, f"[web]\nbehind_proxy = true\n{NAMES}")
    async with serve(tmp_path, surroundings(tmp_path), "--host", "0.0.0.0") as up:
        assert up.link.startswith("https://hub.example/login?code=")
        async with httpx2.AsyncClient(base_url=up.base) as client:
            assert (await client.get("/api/health")).json()["ok"] is True
        await up.stop()


async def test_with_a_certificate_it_speaks_tls_and_nothing_else(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    tls = f'[web]\ntls_cert = "{certificate}"\ntls_key = "{key}"\n'
    settle_in(tmp_path, tls)
    environ = surroundings(tmp_path)
    async with serve(tmp_path, environ, "--host", "0.0.0.0") as up:
        assert up.base.startswith("https://127.0.0.1:")
        link = up.link
        assert link.startswith(f"{up.base}/login?code=")
        trust = ssl.create_default_context(cafile=str(certificate))
        async with httpx2.AsyncClient(base_url=up.base, verify=trust) as client:
            entered = await client.get(link)
            assert entered.status_code == 303
            assert "Secure" in entered.headers["set-cookie"]
            assert (await client.get("/api/me")).json()["role"] == "admin"
            async with feed(client) as stream:
                assert (await anext(stream)).kind == "place"
            # A page that came in the clear may not change anything.
            in_the_clear = {"origin": up.base.replace("https", "http").replace("127.0.0.1", "hub.example")}
            assert (await client.post("/api/login-link", headers=in_the_clear)).status_code == 403
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(up.base.replace("https", "http"))
        await up.stop()
    # Links go to the name that browsers elsewhere know.
    settle_in(tmp_path, tls + NAMES)
    async with serve(tmp_path, environ) as up:
        code, link = await command(environ, "token", "link")
        assert code == 0
        assert link.startswith(f"https://hub.example:{up.base.rpartition(':')[2]}/login?code=")
        await up.stop()


async def test_the_log_is_quiet_and_holds_nothing_that_anybody_said_nor_any_secret(tmp_path: Path) -> None:  # lesson 60
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    written = ""
    async with ScriptedModel({"choose": choose}) as model:
        environ = {**surroundings(tmp_path, model.url("choose")), "SECRET_OF_MINE": "marker-environment"}
        for option in ("--verbose", "--stop-sessions"):
            async with serve(tmp_path, environ, option) as up, desk(tmp_path) as owner:
                before = await owner.newest()
                if option == "--verbose":
                    where = str(tmp_path / "work")
                    session = (await owner.start("marker-prompt", where, title="marker-title")).session
                else:
                    await owner.say(session.id, "marker-said")
                ask = await next_ask(owner, session.id)
                token = up.token("marker-name", "admin")
                async with RemoteDesk(up.base, token) as script:
                    await script.answer(ask.id, Choices((Choice(text="marker-answer"),)))
                    await until(owner, TurnEnded, session.id, before)
                async with httpx2.AsyncClient(base_url=up.base) as client:
                    await client.get("/login", params={"code": "marker-code"})
                    await client.get("/api/asks/marker-path", headers={"authorization": "Bearer marker-bearer"})
                    await client.post("/api/login", json={"secret": "marker-secret"}, headers={"origin": up.base})
                await up.stop()
            if option == "--verbose":
                written = up.errors.read_text()
                assert 'event="POST /api/asks/{id}/answer" status=200' in written
                assert "marker" not in written
                assert token not in written
            else:
                assert up.errors.read_text() == written


async def next_ask(at: Desk, session: str) -> Ask:
    async with asyncio.timeout(60), at.follow(0, session) as follower:
        async for _ in follower:
            for ask in await at.asks(session=session):
                return ask
    raise AssertionError("the feed ended")


async def until(at: Desk, kind: type[Content], session: str | None = None, after: int = 0) -> list[Content]:
    seen: list[Content] = []
    async with asyncio.timeout(60), at.follow(after, session) as follower:
        async for news in follower:
            for item in news if isinstance(news, list) else ():
                seen.append(item.read())
                if isinstance(seen[-1], kind):
                    return seen
    raise AssertionError("the feed ended")


async def test_a_login_code_goes_to_a_terminal_and_works_once(tmp_path: Path) -> None:
    settle_in(tmp_path, f"[web]\n{NAMES}")
    environ = surroundings(tmp_path)
    terminal = pexpect.spawn(
        sys.executable, ["-m", "handraise", "serve", "--port", "0"], env=environ, encoding="utf-8", timeout=60
    )
    try:
        # Without TLS no browser elsewhere could use it: it stays on this machine, whatever names there are.
        terminal.expect(r"(http://127\.0\.0\.1:\d+/login\?code=\S+)")
        link = terminal.match[1]
        async with httpx2.AsyncClient(timeout=30) as browser:
            assert (await browser.get(link)).status_code == 303
            assert (await browser.get(link)).status_code == 401
    finally:
        terminal.kill(signal.SIGTERM)
        terminal.expect(pexpect.EOF)
        terminal.close()


async def test_idle_clients_do_not_keep_the_owner_out_where_files_are_few(tmp_path: Path) -> None:
    """As under `ulimit -n 64`: strangers on the port and on the socket hold what they can."""
    settle_in(tmp_path)
    environ = surroundings(tmp_path)
    child = await asyncio.create_subprocess_exec(
        "prlimit", "--nofile=64:64", sys.executable, "-m", "handraise", "serve", "--port", "0",
        env=environ, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    held: list[socket.socket] = []
    try:
        assert child.stdout is not None
        port = int((await child.stdout.readline()).decode().rpartition(":")[2])
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", port)),
            (socket.AF_UNIX, str(tmp_path / "state/hub.sock")),
        ):
            for _ in range(80):
                held.append(socket.socket(family))
                held[-1].connect(address)
        code, text = await command(environ, "ps")
        assert code == 0, text
        assert "sessions" in text
    finally:
        for each in held:
            each.close()
        child.terminate()
        assert await child.wait() == 0
