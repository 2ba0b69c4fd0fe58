"""The server lives on in a process of its own."""

import pytest

from surfaces.telegram.bare_client import BareClient
from surfaces.telegram.bot_api_process import bot_api_process

pytestmark = pytest.mark.anyio


async def test_people_act_through_the_control_address() -> None:
    async with bot_api_process(pace=100) as api:
        bot = BareClient(api.base, api.token)
        async with bot.http:
            await api.perform("person", number=1001, first_name="Ana")
            await api.perform("write", person=1001, text="/start")
            markup = {"inline_keyboard": [[{"text": "Yes", "callback_data": "id"}]]}
            await bot.call("sendMessage", chat_id=1001, text="Run it?", reply_markup=markup)
            card = await api.perform("wait", chat=1001, label="Yes")
            press = await api.perform("press", person=1001, message=card["number"], label="Yes")
            await bot.call("answerCallbackQuery", callback_query_id=press, text="Allowed")

            assert await api.perform("toast", press=press) == "Allowed"
            assert [each["text"] for each in await api.perform("messages", chat=1001)] == ["/start", "Run it?"]
            assert await api.perform("counts") == {
                "429 by the limits": 0,
                "sendMessage 200": 1,
                "answerCallbackQuery 200": 1,
            }


async def test_faults_are_planned_from_outside() -> None:
    async with bot_api_process() as api:
        bot = BareClient(api.base, api.token)
        async with bot.http:
            await api.perform("conflict", seconds=50)
            assert (await bot.refusal("getUpdates")).startswith("409")
            await api.perform("refuse", method="getMe", code=401, description="Unauthorized")
            assert await bot.refusal("getMe") == "401 Unauthorized"
