"""Stories of Web Push: the real CLI raises its hand, a push service on loopback carries it, and hubs come and go."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.items import TurnEnded
from stories.serving_house import HubChild, command, desk, serve, settle_in, surroundings
from stories.test_serve import QUESTION, next_ask, until
from surfaces.push.vendor import Phone, Vendor, vendor

# For a push service on loopback; the delay before a notification is the real one.
SETTINGS = "[push]\nprivate_addresses = true\n"


def choose(conversation: Conversation) -> Script:
    conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
    conversation = yield [say(f"Heard: {conversation.result().text}"), use("Bash", command="touch done")]
    conversation = yield [say("Not done.")]
    conversation = yield [use("Bash", command="touch done")]
    conversation = yield [say("Done.")]
    yield [use("AskUserQuestion", questions=[QUESTION])]


@asynccontextmanager
async def browser(hub: HubChild, token: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with this token, over HTTP."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=hub.base, headers=headers, timeout=30) as client:
        yield client


async def switch_on(client: httpx2.AsyncClient, service: Vendor) -> Phone:
    phone = service.phone((await client.get("/api/push")).json()["key"])
    made = await client.post("/api/push/devices", json=phone.subscription())
    assert made.status_code == 201, made.text
    return phone


def is_about(ask: str, kind: str = "ask") -> Any:
    return lambda notice: (notice["kind"], notice.get("ask")) == (kind, ask)


async def test_asks_reach_the_phone_through_killed_hubs_and_answers_from_elsewhere_take_them_back(
    tmp_path: Path,
) -> None:
    settle_in(tmp_path, SETTINGS)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model, vendor() as service:
        environ = surroundings(tmp_path, model.url("choose"))
        async with serve(tmp_path, environ) as hub, desk(tmp_path) as owner:
            ana, bea = hub.token("ana", "approver"), hub.token("bea", "admin")
            async with browser(hub, ana) as client:
                phone = await switch_on(client, service)
            phone.refusals += [(503, {})] * 1000
            async with browser(hub, bea) as client:
                hers = await switch_on(client, service)
                wanted = {"say": "Choose a database.", "project": str(tmp_path / "work"), "title": "Databases"}
                session = (await client.post("/api/sessions", json=wanted)).json()["id"]
            ask = await next_ask(owner, session)
            await phone.until_tried(1)
            hub.child.kill()
            await hub.child.wait()
        phone.refusals.clear()

        async with serve(tmp_path, environ) as hub:
            got = await phone.until(is_about(ask.id))
            assert got.notice["title"] == "Which database?"
            assert got.notice["body"] == "SQLite: one file\nPostgres: a server\nDatabases"
            assert got.headers["urgency"] == "high"
            # Whether it was noted down in time or not, a phone shows it once: by its tag.
            hub.child.kill()
            await hub.child.wait()

        async with serve(tmp_path, environ) as hub, desk(tmp_path) as owner:
            code, text = await command(environ, "answer", ask.id, "--choose", "Postgres")
            assert (code, text) == (0, "Answered.\n")
            back = await phone.until(is_about(ask.id, "settled"))
            assert back.notice["body"] == "owner answered: Postgres · terminal"
            permission = await next_ask(owner, session)
            await phone.until(is_about(permission.id))
            await hub.stop()

        async with serve(tmp_path, environ, "--stop-sessions") as hub, desk(tmp_path) as owner:
            assert (await command(environ, "answer", permission.id, "--deny", "no"))[0] == 0
            await phone.until(is_about(permission.id, "settled"))
            await until(owner, TurnEnded, session)
            assert not (tmp_path / "work" / "done").exists()
            assert phone.shown.count(("ask", permission.id)) == 1, "a hub that could note it down sends it once"
            assert phone.shown.count(("ask", ask.id)) <= 2
            topics = {each.headers["topic"] for each in phone.delivered if each.notice["ask"] == ask.id}
            assert topics == {phone.delivered[0].headers["topic"]}

            # The next one is answered on the phone: exactly what it was offered, to exactly what it was shown.
            before = await owner.newest()
            await owner.say(session, "Try again.")
            again = await next_ask(owner, session)
            shown = (await phone.until(is_about(again.id))).notice
            assert (shown["title"], [each["title"] for each in shown["answers"]]) == (
                "Run touch done?",
                ["Deny", "Allow once"],
            )
            given = {"answer": shown["answers"][1]["answer"], "digest": shown["digest"]}
            async with browser(hub, ana) as client:
                response = await client.post(f"/api/asks/{again.id}/answer", json=given)
            assert response.status_code == 200, response.text
            await until(owner, TurnEnded, session, before)
            assert (tmp_path / "work" / "done").exists()

            # The person who started a session is notified when it ends.
            await owner.say(session, "Choose again.")
            last = await next_ask(owner, session)
            await hers.until(is_about(last.id))
            await owner.stop(session)
            back = await hers.until(is_about(last.id, "settled"))
            assert back.notice["body"].startswith("No longer needed: ")
            ended = await hers.until(lambda notice: notice["kind"] == "ended")
            assert (ended.notice["title"], ended.notice["body"]) == ("Databases", "Stopped: owner stopped it")
            await hub.stop()
        assert model.errors == []
