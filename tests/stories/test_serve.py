"""Stories of `handraise serve`: started, stopped, started again, and refused."""

import asyncio
import json
import os
import signal
import socket
import ssl
import sys
from pathlib import Path

import httpx2
import pexpect
import pytest

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.told import Told
from handraise.desk.interface import Desk
from handraise.desk.remote import RemoteDesk
from handraise.model.answers import Choice, Choices
from handraise.model.asks import Ask
from handraise.model.items import Content, Text, TurnEnded
from stories.serving_house import command, desk, fail_to_serve, serve, settle_in, stop_all, surroundings
from surfaces.web.certificates import make_certificate
from surfaces.web.events import feed

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}


def choose(told: Told) -> Script:
    told = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
    yield [say(f"Heard: {told.result().text}")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_session_lives_on_when_the_hub_is_told_to_stop_and_the_next_one_adopts_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model:
        environ = surroundings(tmp_path, model.url("choose"))
        async with serve(tmp_path, environ) as first, desk(tmp_path) as owner:
            session = (await owner.start("Choose a database.", str(tmp_path / "work"))).session
            ask = await next_ask(owner, session.id)
            async with httpx2.AsyncClient(base_url=first.base, timeout=30) as browser:
                assert (await browser.get(first.link)).status_code == 303
                async with feed(browser) as stream:  # lesson 52
                    await anext(stream)
                    seconds = await first.stop(number)
        assert seconds < 5
        assert not (tmp_path / "state" / "hub.sock").exists()
        assert (await command(environ, "ps"))[0] == 3

        async with serve(tmp_path, environ) as second, desk(tmp_path) as owner:
            assert "Adopted 1 sessions; 0 were lost" in second.said
            code, said = await command(environ, "answer", ask.id, "--choose", "SQLite")
            assert (code, said) == (0, "Answered.\n")
            told = await until(owner, TurnEnded)
            assert any(isinstance(each, Text) and "SQLite" in each.text for each in told)
            code, said = await command(environ, "answer", ask.id, "--choose", "Postgres")
            assert code == 4
            assert "This was answered before, by owner, from terminal: SQLite." in said
            assert (await command(environ, "answer", "a_none", "--choose", "x"))[0] == 1
            assert (await command(environ, "answer", ask.id, "--allow"))[0] in (1, 2, 4)
        await stop_all(tmp_path, environ)
        assert model.errors == []


async def test_nothing_lags_behind_while_claude_waits_for_a_person(tmp_path: Path) -> None:
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model:
        environ = surroundings(tmp_path, model.url("choose"))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            session = (await owner.start("Choose a database.", str(tmp_path / "work"))).session
            await next_ask(owner, session.id)
            _, token = await command(environ, "token", "create", "prometheus", "--role", "viewer")
            bearer = {"authorization": f"Bearer {token.strip()}"}
            async with httpx2.AsyncClient(base_url=hub.base, headers=bearer) as client, asyncio.timeout(60):
                while "handraise_journal_lag_bytes 0.0" not in (await client.get("/metrics")).text:
                    await asyncio.sleep(0.05)
                told = (await client.get("/metrics")).text
            assert 'handraise_asks_open{kind="question"} 1.0' in told
            assert 'handraise_sessions{phase="working"} 1.0' in told
            await hub.stop()


async def test_with_stop_sessions_every_claude_ends_with_the_hub(tmp_path: Path) -> None:
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model:
        environ = surroundings(tmp_path, model.url("choose"))
        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            session = (await owner.start("Choose a database.", str(tmp_path / "work"))).session
            ask = await next_ask(owner, session.id)
            record = json.loads((tmp_path / "state" / "sessions" / session.id / "1" / "launch.json").read_bytes())
            assert Path(f"/proc/{record['pid']}").exists()
            await hub.stop()
        assert not Path(f"/proc/{record['pid']}").exists()
        async with serve(tmp_path, environ), desk(tmp_path) as owner:
            ended = (await owner.session(session.id)).session.ended
            assert ended is not None
            assert ended.how == "stopped"
            assert (await owner.ask(ask.id)).state == "withdrawn"


async def test_a_second_hub_says_who_is_running_and_where(tmp_path: Path) -> None:
    settle_in(tmp_path)
    environ = surroundings(tmp_path)
    async with serve(tmp_path, environ) as hub:
        said = await fail_to_serve(environ)
        assert f"process {hub.child.pid}" in said
        assert hub.base in said
        port = hub.base.rpartition(":")[2]
        other = {**environ, "HANDRAISE_STATE": str(tmp_path / "other")}
        assert f"Port {port} on 127.0.0.1 is in use" in await fail_to_serve(other, "--port", port)
        assert await hub.stop() < 5


async def test_the_database_is_where_the_command_line_the_variable_or_the_settings_say(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    settle_in(tmp_path, f'[store]\ndatabase = "{kept / "by-settings.db"}"\n')
    environ = surroundings(tmp_path)
    async with serve(tmp_path, environ) as hub:
        assert (kept / "by-settings.db").exists()
        other = {**environ, "HANDRAISE_STATE": str(tmp_path / "other")}
        said = await fail_to_serve(other)
        assert f"A hub runs on {kept / 'by-settings.db'} already (process {hub.child.pid})" in said
        await hub.stop()
    environ["HANDRAISE_STORE_DATABASE"] = str(kept / "by-variable.db")
    async with serve(tmp_path, environ) as hub:
        assert (kept / "by-variable.db").exists()
        code, said = await command(environ, "doctor")
        assert code == 0
        assert f'store.database = "{kept / "by-variable.db"}"' in said
        await hub.stop()
    async with serve(tmp_path, environ, "--database", f"sqlite://{kept / 'by-option.db'}") as hub:
        assert (kept / "by-option.db").exists()
        await hub.stop()
    assert not (tmp_path / "state" / "hub.db").exists()
    said = await fail_to_serve(environ, "--database", "postgresql://ana:secret@db.example/hub")
    assert "postgresql is not supported: a database is sqlite:///ABSOLUTE/PATH" in said
    assert "secret" not in said
    os.chmod(kept, 0o755)
    assert f"Others can look into {kept}; make it private" in await fail_to_serve(environ)


async def test_it_does_not_listen_in_the_clear_beyond_this_machine(tmp_path: Path) -> None:
    settle_in(tmp_path)
    environ = surroundings(tmp_path)
    said = await fail_to_serve(environ, "--host", "0.0.0.0")
    assert "without TLS would let others read along" in said
    assert not (tmp_path / "state" / "hub.db").exists()
    settle_in(tmp_path, "[web]\nbehind_proxy = true\n")
    async with serve(tmp_path, environ, "--host", "0.0.0.0") as hub:
        async with httpx2.AsyncClient(base_url=hub.base) as client:
            assert (await client.get("/api/health")).json()["ok"] is True
        await hub.stop()


async def test_with_a_certificate_it_speaks_tls_and_nothing_else(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    settle_in(tmp_path, f'[web]\ntls_cert = "{certificate}"\ntls_key = "{key}"\n')
    environ = surroundings(tmp_path)
    async with serve(tmp_path, environ, "--host", "0.0.0.0") as hub:
        assert hub.base.startswith("https://127.0.0.1:")
        trust = ssl.create_default_context(cafile=str(certificate))
        async with httpx2.AsyncClient(base_url=hub.base, verify=trust) as client:
            entered = await client.get(hub.link)
            assert entered.status_code == 303
            assert "Secure" in entered.headers["set-cookie"]
            assert (await client.get("/api/me")).json()["role"] == "admin"
            async with feed(client) as stream:
                assert (await anext(stream)).kind == "place"
            # A page that came in the clear may not change anything.
            in_the_clear = {"origin": hub.base.replace("https", "http").replace("127.0.0.1", "hub.example")}
            assert (await client.post("/api/login-link", headers=in_the_clear)).status_code == 403
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(hub.base.replace("https", "http"))
        await hub.stop()
    settle_in(tmp_path, f'[web]\ntls_cert = "{key}"\ntls_key = "{certificate}"\n')
    assert "not a certificate and its key" in await fail_to_serve(environ)


async def test_links_go_to_the_name_that_browsers_elsewhere_know(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    names = 'allowed_hosts = ["Hub.example", "other.example"]\n'
    tls = f'tls_cert = "{certificate}"\ntls_key = "{key}"\n'
    environ = surroundings(tmp_path)
    for settings, there in (
        (names, "http://127.0.0.1"),
        (tls, "https://127.0.0.1"),
        (tls + names, "https://hub.example"),
    ):
        settle_in(tmp_path, f"[web]\n{settings}")
        async with serve(tmp_path, environ) as hub:
            port = hub.base.rpartition(":")[2]
            code, another = await command(environ, "token", "link")
            assert code == 0
            for link in (hub.link, another):
                assert link.startswith(f"{there}:{port}/login?code=")
            await hub.stop()
    settle_in(tmp_path, f"[web]\nbehind_proxy = true\n{names}")
    async with serve(tmp_path, environ) as hub:
        assert hub.link.startswith("https://hub.example/login?code=")
        await hub.stop()


async def test_a_state_folder_that_others_can_read_and_settings_with_mistakes_are_refused(tmp_path: Path) -> None:
    settle_in(tmp_path)
    environ = surroundings(tmp_path)
    (tmp_path / "state").mkdir(mode=0o755)
    os.chmod(tmp_path / "state", 0o755)
    assert "make it private (chmod 700" in await fail_to_serve(environ)
    os.chmod(tmp_path / "state", 0o700)
    (tmp_path / "handraise.toml").write_text("[web]\nprot = 1\n")
    assert "port" in await fail_to_serve(environ)
    settle_in(tmp_path)
    long = {**environ, "HANDRAISE_STATE": str(tmp_path / ("x" * 100))}
    assert "too long for a socket" in await fail_to_serve(long)


async def test_the_log_is_quiet_and_holds_nothing_that_anybody_said_nor_any_secret(tmp_path: Path) -> None:  # lesson 60
    settle_in(tmp_path)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model:
        for options in (("--stop-sessions",), ("--stop-sessions", "--verbose")):
            url = model.url("choose", str(len(options)))
            environ = {**surroundings(tmp_path, url), "SECRET_OF_MINE": "marker-environment"}
            async with serve(tmp_path, environ, *options) as hub, desk(tmp_path) as owner:
                session = (await owner.start("marker-prompt", str(tmp_path / "work"), title="marker-title")).session
                ask = await next_ask(owner, session.id)
                code, token = await command(environ, "token", "create", "marker-name", "--role", "admin")
                assert code == 0
                async with RemoteDesk(hub.base, token.strip()) as script:
                    await script.answer(ask.id, Choices((Choice(text="marker-answer"),)))
                    await until(owner, TurnEnded, session.id)
                async with httpx2.AsyncClient(base_url=hub.base) as client:
                    await client.get("/login", params={"code": "marker-code"})
                    await client.get("/api/asks/marker-path", headers={"authorization": "Bearer marker-bearer"})
                    await client.post("/api/login", json={"secret": "marker-secret"}, headers={"origin": hub.base})
                await hub.stop()
            written = hub.errors.read_text()
            assert "marker" not in written
            assert token.strip() not in written
            if "--verbose" in options:
                assert 'event="POST /api/asks/{id}/answer" status=200' in written
            else:
                assert written == ""


async def next_ask(at: Desk, session: str) -> Ask:
    async with asyncio.timeout(60), at.follow(0, session) as follower:
        async for _ in follower:
            for ask in await at.asks(session=session):
                return ask
    raise AssertionError("the feed ended")


async def until(at: Desk, kind: type[Content], session: str | None = None) -> list[Content]:
    seen: list[Content] = []
    async with asyncio.timeout(60), at.follow(0, session) as follower:
        async for news in follower:
            for item in news if isinstance(news, list) else ():
                seen.append(item.read())
                if isinstance(seen[-1], kind):
                    return seen
    raise AssertionError("the feed ended")


async def test_a_login_code_goes_to_a_terminal_and_never_into_a_file(tmp_path: Path) -> None:
    settle_in(tmp_path)
    environ = surroundings(tmp_path)
    async with serve(tmp_path, environ) as hub:
        assert "code=" not in hub.said
        await hub.stop()

    terminal = pexpect.spawn(
        sys.executable, ["-m", "handraise", "serve", "--port", "0"], env=environ, encoding="utf-8", timeout=60
    )
    try:
        terminal.expect(r"(http://\S+/login\?code=\S+)")
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
        code, said = await command(environ, "ps")
        assert code == 0, said
        assert "sessions" in said
    finally:
        for each in held:
            each.close()
        child.terminate()
        assert await child.wait() == 0
