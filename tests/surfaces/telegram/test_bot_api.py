"""The server of the tests keeps Telegram's rules."""

import asyncio
from typing import Any

import httpx2
import pytest

from surfaces.telegram.bare_client import BareClient, bare_client
from surfaces.telegram.bot_api import BOT, BotApi, bot_api
from surfaces.telegram.people import Someone

pytestmark = pytest.mark.anyio


def keyboard(*labels: str) -> dict[str, Any]:
    return {"inline_keyboard": [[{"text": label, "callback_data": f"id-{label}"} for label in labels]]}


async def test_a_bot_knows_itself(bot: BareClient) -> None:
    assert (await bot.call("getMe"))["username"] == BOT.username


async def test_method_names_ignore_case_and_get_works(api: BotApi, bot: BareClient) -> None:
    answer = await bot.http.get(f"{api.base}/bot{api.token}/GETME")
    assert answer.json()["result"]["id"] == BOT.number


async def test_wrong_tokens_and_unknown_methods_are_refused(api: BotApi, bot: BareClient) -> None:
    assert await BareClient.refusal(bot, "sendNothing") == "404 Not Found"
    wrong = BareClient(api.base, "1:wrong")
    async with wrong.http:
        assert await wrong.refusal("getMe") == "401 Unauthorized"


async def test_misspelled_parameters_are_refused(bot: BareClient, ana: Someone) -> None:
    assert "unknown parameters: txt" in await bot.refusal("sendMessage", chat_id=ana.number, text="a", txt="b")


async def test_a_message_appears_with_its_buttons(bot: BareClient, ana: Someone) -> None:
    sent = await bot.call("sendMessage", chat_id=ana.number, text=" Run it? ", reply_markup=keyboard("Yes", "No"))

    assert ana.private.shown == ["Ana: /start", "Handraise: Run it?\n[Yes] [No]"]
    assert sent["message_id"] == ana.private.last.number
    assert sent["reply_markup"] == keyboard("Yes", "No")


async def test_an_edit_replaces_text_and_buttons(bot: BareClient, ana: Someone) -> None:
    sent = await bot.call("sendMessage", chat_id=ana.number, text="Run it?", reply_markup=keyboard("Yes"))
    where = {"chat_id": ana.number, "message_id": sent["message_id"]}
    await bot.call("editMessageText", **where, text="Allowed")

    message = ana.private.last
    assert (message.text, message.buttons, message.history[0].labels) == ("Allowed", [], [["Yes"]])
    assert "message is not modified" in await bot.refusal("editMessageText", **where, text="Allowed")
    await bot.call("editMessageReplyMarkup", **where, reply_markup=keyboard("Again"))
    assert (message.text, message.buttons) == ("Allowed", ["Again"])


async def test_a_press_reaches_the_bot_and_is_answered_once(bot: BareClient, ana: Someone) -> None:
    await bot.call("sendMessage", chat_id=ana.number, text="Run it?", reply_markup=keyboard("Yes"))
    press = ana.press(ana.private.last, "Yes")
    query = (await bot.call("getUpdates"))[-1]["callback_query"]

    assert (query["data"], query["from"]["id"]) == ("id-Yes", ana.number)
    assert query["message"]["message_id"] == ana.private.last.number
    await bot.call("answerCallbackQuery", callback_query_id=query["id"], text="Allowed")
    assert await press.toast() == "Allowed"
    assert "query is too old" in await bot.refusal("answerCallbackQuery", callback_query_id=query["id"])


async def test_a_press_can_be_answered_for_a_while() -> None:
    now = [0.0]
    async with bot_api(clock=lambda: now[0]) as slow, bare_client(slow) as client:
        eve = slow.someone(5, "Eve")
        press = eve.press_data(eve.start(), "anything")
        now[0] = 61.0
        assert "query is too old" in await client.refusal("answerCallbackQuery", callback_query_id=press.id)


async def test_updates_come_again_until_they_are_confirmed(bot: BareClient, ana: Someone) -> None:
    ana.write("one")
    first = await bot.call("getUpdates")
    assert await bot.call("getUpdates") == first
    assert [each["message"]["text"] for each in first] == ["/start", "one"]
    assert await bot.call("getUpdates", offset=first[0]["update_id"] + 1) == first[1:]
    assert await bot.call("getUpdates", offset=first[-1]["update_id"] + 1) == []


async def test_a_long_poll_ends_with_the_first_update(bot: BareClient, ana: Someone) -> None:
    offset = (await bot.call("getUpdates"))[-1]["update_id"] + 1
    polling = asyncio.create_task(bot.call("getUpdates", offset=offset, timeout=50))
    await asyncio.sleep(0)
    ana.write("hello")
    assert [each["message"]["text"] for each in await polling] == ["hello"]


async def test_a_second_poller_ends_the_first(api: BotApi, bot: BareClient) -> None:
    first = asyncio.create_task(bot.refusal("getUpdates", timeout=50))
    await api.until(lambda: api.world.updates.polling)
    second = asyncio.create_task(bot.call("getUpdates", timeout=50))
    assert (await first).startswith("409 Conflict: terminated by other getUpdates request")
    api.someone(5, "Eve").write("hi")
    assert len(await second) == 1


async def test_the_limit_and_allowed_updates_hold(bot: BareClient, ana: Someone) -> None:
    ana.write("two")
    assert len(await bot.call("getUpdates", limit=1, allowed_updates=["message"])) == 1
    ana.press_data(ana.private.messages[0], "x")
    assert [list(each)[1] for each in await bot.call("getUpdates")] == ["message", "message"]


async def test_confirmed_updates_can_come_again(api: BotApi, bot: BareClient, ana: Someone) -> None:
    first = await bot.call("getUpdates")
    after = first[-1]["update_id"] + 1
    assert await bot.call("getUpdates", offset=after) == []
    assert api.world.updates.deliver_again() == 1
    assert await bot.call("getUpdates", offset=after) == first
    assert await bot.call("getUpdates", offset=after) == []


async def test_getupdates_is_refused_for_a_while_after_a_restart() -> None:
    now = [0.0]
    async with bot_api(clock=lambda: now[0], restart_conflict=50) as api:
        async with bare_client(api) as killed:
            polling = asyncio.create_task(killed.call("getUpdates", timeout=50))
            await api.until(lambda: api.world.updates.polling)
            polling.cancel()
        await api.until(lambda: api.count("getUpdates") == 1)
        async with bare_client(api) as client:
            assert (await client.refusal("getUpdates")).startswith("409 Conflict")
            now[0] = 51.0
            assert await client.call("getUpdates") == []


@pytest.mark.parametrize("fault", ["500", "502"])
async def test_a_failing_server_answers_with_a_page(api: BotApi, bot: BareClient, ana: Someone, fault: Any) -> None:
    api.fail("sendMessage", fault)
    answer = await bot.http.post(f"{api.base}/bot{api.token}/sendMessage", json={"chat_id": ana.number, "text": "a"})
    assert (answer.status_code, answer.headers["content-type"]) == (int(fault), "text/html")
    await bot.call("sendMessage", chat_id=ana.number, text="a")
    assert len(ana.private.from_bot) == 1


@pytest.mark.parametrize(("fault", "arrived"), [("drop", 0), ("drop-after", 1)])
async def test_a_connection_breaks(api: BotApi, bot: BareClient, ana: Someone, fault: Any, arrived: int) -> None:
    api.fail("sendMessage", fault)
    with pytest.raises(httpx2.TransportError):
        await bot.call("sendMessage", chat_id=ana.number, text="a")
    assert len(ana.private.from_bot) == arrived


@pytest.mark.parametrize(("fault", "arrived"), [("silent", 0), ("silent-after", 1)])
async def test_a_call_is_never_answered(api: BotApi, bot: BareClient, ana: Someone, fault: Any, arrived: int) -> None:
    api.fail("sendMessage", fault)
    bot.http.timeout = httpx2.Timeout(0.2)
    with pytest.raises(httpx2.TimeoutException):
        await bot.call("sendMessage", chat_id=ana.number, text="a")
    assert len(ana.private.from_bot) == arrived


async def test_nothing_works_during_an_outage(api: BotApi, bot: BareClient, ana: Someone) -> None:
    with api.outage(), pytest.raises(httpx2.TransportError):
        await bot.call("getMe")
    assert await bot.call("getMe")


async def test_a_webhook_comes_before_getupdates(api: BotApi, bot: BareClient, ana: Someone) -> None:
    api.world.webhook = "https://elsewhere.example/hook"
    assert "while webhook is active" in await bot.refusal("getUpdates")
    assert (await bot.call("getWebhookInfo"))["url"] == api.world.webhook
    await bot.call("deleteWebhook", drop_pending_updates=True)
    assert await bot.call("getUpdates") == []


async def test_sends_and_edits_share_a_limit_and_the_rest_has_none() -> None:
    now = [0.0]
    async with bot_api(clock=lambda: now[0], pace=100) as api, bare_client(api) as bot:
        eve = api.someone(5, "Eve")
        eve.start()
        sent = await bot.call("sendMessage", chat_id=5, text="one")
        await bot.call("editMessageText", chat_id=5, message_id=sent["message_id"], text="two")
        await bot.call("sendMessage", chat_id=5, text="three")
        answer = await bot.answer("editMessageText", chat_id=5, message_id=sent["message_id"], text="four")
        assert (answer["error_code"], answer["parameters"]) == (429, {"retry_after": 1})
        await bot.call("sendChatAction", chat_id=5, action="typing")
        await bot.call("sendMessageDraft", chat_id=5, draft_id=1, text="fo")
        press = eve.press_data(eve.private.last, "x")
        await bot.call("answerCallbackQuery", callback_query_id=press.id)
        assert api.refused == 1
        now[0] = 0.01  # a second of Telegram's
        await bot.call("sendMessage", chat_id=5, text="four")


async def test_new_topics_count_like_messages() -> None:
    async with bot_api(clock=lambda: 0.0) as api, bare_client(api) as bot:
        forum = api.forum("Team")
        for at in range(20):
            await bot.call("createForumTopic", chat_id=forum.number, name=f"Topic {at}")
        assert (await bot.refusal("sendMessage", chat_id=forum.number, text="a")).startswith("429")


async def test_any_error_can_be_asked_for(api: BotApi, bot: BareClient, ana: Someone) -> None:
    api.refuse("sendMessage", 429, "Too Many Requests: retry after 7", times=2, retry_after=7)
    for _ in range(2):
        assert (await bot.answer("sendMessage", chat_id=ana.number, text="a"))["parameters"] == {"retry_after": 7}
    await bot.call("sendMessage", chat_id=ana.number, text="a")
    assert (api.count("sendMessage"), api.count("sendMessage", 429), api.refused) == (1, 2, 0)


async def test_a_fault_can_meet_a_later_call(api: BotApi, bot: BareClient, ana: Someone) -> None:
    api.fail("sendMessage", "works")
    api.refuse("sendMessage", 400, "Bad Request: MADE_UP")
    await bot.call("sendMessage", chat_id=ana.number, text="a")
    assert await bot.refusal("sendMessage", chat_id=ana.number, text="b") == "400 Bad Request: MADE_UP"
