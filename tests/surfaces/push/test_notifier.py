"""The notifier: a hub on real sockets, a push service on loopback, and what reaches which device."""

from datetime import timedelta
from pathlib import Path

from api.served import TESTER, A, B, served
from handraise.model.answers import Choice, Choices
from handraise.surfaces.push.sender import topic
from surfaces.push.notified import AT_ONCE, NPM, about, answer, end, raised, switched_on
from surfaces.push.vendor import vendor


async def test_an_ask_reaches_every_device_and_is_taken_back_when_somebody_answers(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (_, one, name),
        switched_on(hub, service, "admin") as (_, two, _),
    ):
        session = await hub.session()
        ask = await raised(hub, NPM, session=session.id)
        for phone in (one, two):
            got = await phone.until(about(ask.id))
            assert got.notice["title"] == "Run npm test?"
            assert got.notice["body"] == session.title
            assert got.notice["digest"] == ask.digest
            assert got.notice["waiting"] == 1
            assert [each["answer"] for each in got.notice["answers"]] == [
                {"message": "", "interrupt": False, "allow": False},
                {"for": "once", "suggestions": [], "allow": True},
            ]
            assert (got.headers["urgency"], got.headers["topic"]) == ("high", topic(ask.id))
            assert got.headers["ttl"] == str(28 * 24 * 3600)
        assert (await one.until(about(ask.id))).notice["device"] == name

        await answer(owner, ask.id, {"allow": True})
        for phone in (one, two):
            back = await phone.until(about(ask.id, "settled"))
            assert back.notice["body"] == "owner allowed npm test · terminal"
            assert back.notice["waiting"] == 0
            assert back.headers["topic"] == topic(ask.id), "an undelivered one is replaced"
            assert phone.shown == [("ask", ask.id), ("settled", ask.id)]


async def test_who_may_only_look_gets_no_buttons_and_only_the_kinds_that_were_wanted(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service, "viewer") as (_, looking, _),
        switched_on(hub, service, kinds=["question"]) as (_, picky, _),
    ):
        first, second = await raised(hub, NPM), await raised(hub)
        assert (await looking.until(about(first.id))).notice["answers"] == []
        assert (await looking.until(about(second.id))).notice["answers"] == []
        got = await picky.until(about(second.id))
        assert [each["title"] for each in got.notice["answers"]] == ["A", "B"]
        assert picky.shown == [("ask", second.id)]


async def test_what_is_answered_at_once_calls_nobody(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (_, phone, _),
    ):
        quick = await raised(hub, wait=timedelta(hours=1))
        await answer(owner, quick.id, A)
        slow = await raised(hub)
        await phone.until(about(slow.id))
        assert phone.shown == [("ask", slow.id)]


async def test_what_was_open_before_is_not_told_again(tmp_path: Path) -> None:
    async with vendor() as service, served(tmp_path, push=AT_ONCE) as hub:
        await raised(hub)
        async with switched_on(hub, service) as (_, phone, _):
            later = await raised(hub)
            await phone.until(about(later.id))
            assert phone.shown == [("ask", later.id)]


async def test_what_a_device_put_away_itself_is_not_taken_back(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (client, phone, name),
    ):
        first, second = await raised(hub), await raised(hub)
        await phone.until(about(first.id))
        await phone.until(about(second.id))
        done = await client.post(f"/api/push/devices/{name}/closed", json={"ask": first.id})
        assert done.status_code == 200
        await answer(client, first.id, A)
        await answer(owner, second.id, A)
        await phone.until(about(second.id, "settled"))
        assert ("settled", first.id) not in phone.shown
        again = await client.post(f"/api/push/devices/{name}/closed", json={"ask": first.id})
        assert again.status_code == 200


async def test_the_end_of_a_session_is_told_to_who_started_it(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service) as (_, starter, _),
        switched_on(hub, service, "admin") as (_, other, _),
    ):
        for how, reason, by in (("lost", "Claude was killed", None), ("stopped", "whatever it says", "a approver")):
            session = await hub.session()
            await end(hub, session.id, "a approver", how, reason, by)
        mine = await hub.session()
        await end(hub, mine.id, "a approver", "stopped", "a admin stopped it", "a admin")
        got = await starter.until(lambda notice: notice.get("session") == mine.id)
        assert got.notice["body"] == "Stopped: a admin stopped it"
        fence = await raised(hub)
        await other.until(about(fence.id))
        assert [each.notice.get("body") for each in starter.delivered if each.notice["kind"] == "ended"] == [
            "Claude exited: Claude was killed",
            "Stopped: a admin stopped it",
        ]
        assert other.shown == [("ask", fence.id)]


async def test_an_alarm_is_told_to_all_who_may_answer(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        switched_on(hub, service, kinds=[]) as (_, approver, _),
        switched_on(hub, service, "admin") as (_, admin, _),
        switched_on(hub, service, "viewer") as (_, viewer, _),
    ):
        session = await hub.session()
        await end(hub, session.id, "somebody", "failed", "Something answered for us.", alarm=True)
        for phone in (approver, admin):
            got = await phone.until(lambda notice: notice["kind"] == "ended")
            assert got.notice["session"] == session.id
            assert "Alarm" in got.notice["title"]
        fence = await raised(hub)
        await viewer.until(about(fence.id))
        assert viewer.shown == [("ask", fence.id)]


async def test_who_answers_second_takes_nothing_back_again(tmp_path: Path) -> None:
    async with (
        vendor() as service,
        served(tmp_path, push=AT_ONCE) as hub,
        hub.neighbour() as owner,
        switched_on(hub, service) as (_, phone, _),
    ):
        ask = await raised(hub)
        await phone.until(about(ask.id))
        desk = hub.up.hub.desk.seat(TESTER, "test")
        await desk.answer(ask.id, Choices((Choice(("B",)),)))
        refused = await owner.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        assert refused.status_code == 409
        await answer(owner, ask.id, B)
        await phone.until(about(ask.id, "settled"))
        fence = await raised(hub)
        await phone.until(about(fence.id))
        assert phone.shown == [("ask", ask.id), ("settled", ask.id), ("ask", fence.id)]
