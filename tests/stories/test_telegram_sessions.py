"""Stories of sessions on Telegram: the real CLI, a hub that is killed, and a Bot API server on loopback."""

from pathlib import Path

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, hold, say
from handraise.demo.request import Conversation
from handraise.model.projects import Options
from stories.serving_house import DEADLINE, desk, serve, settle_in, stop_all, surroundings
from stories.test_long_lines import noise
from surfaces.telegram.bot_api import TOKEN, BotApi, bot_api
from surfaces.telegram.chats import FakeChat, FakeFile, ShownMessage

PACE = 20.0
"""Telegram's limits pass this much faster, so that a story isn't slow."""
PICTURE = noise(8, 8)
GREEN = "All **green**: `npm test` passed."


def work(conversation: Conversation) -> Script:
    conversation = yield [say("Looking at the cart,"), hold("looking"), say(f"\n\n{GREEN}")]
    while True:
        if conversation.images:
            conversation = yield [say(f"I see {conversation.images[0].media_type}.")]
        elif "code" in conversation.text:
            conversation = yield [say("```python\n" + "\n".join(f"x_{at} = {at}" for at in range(400)) + "\n```")]
        elif "long" in conversation.text:
            conversation = yield [say("Before it"), hold("speaking"), say("never heard")]
        elif "plot" in conversation.text:
            conversation = yield [say("Here it is: ![plot](plot.png)")]
        else:
            conversation = yield [say(f"Heard: {conversation.text.splitlines()[-1]}")]


def settings(api: BotApi, more: str = "") -> str:
    return (
        f'[telegram]\ntoken = "{TOKEN}"\nallowed = [1001]\napi = "{api.base}"\n'
        f'names = {{1001 = "ana"}}\nroles = {{1001 = "admin"}}\n{more}'
    )


async def add_shop(tmp: Path) -> Path:
    folder = tmp / "shop"
    folder.mkdir(exist_ok=True)
    async with desk(tmp) as owner:
        await owner.add_project(str(folder), "shop", Options())
    return folder


async def draft_with(chat: FakeChat, text: str) -> None:
    await chat.until(lambda _: (chat.draft is not None and text in chat.draft.text) or None, DEADLINE)


async def message(chat: FakeChat, text: str) -> ShownMessage:
    return await chat.message(text, DEADLINE)


async def file(chat: FakeChat, name: str) -> FakeFile:
    """A file that the bot sent."""
    return await chat.until(
        lambda shown: next((each.file for each in shown if each.by_bot and each.file and each.file.name == name), None),
        DEADLINE,
    )


async def test_a_session_in_a_private_chat_survives_a_killed_hub_and_is_stopped_and_resumed(tmp_path: Path) -> None:
    async with bot_api(pace=PACE) as api, ScriptedModel({"work": work}) as model:
        settle_in(tmp_path, settings(api))
        environ = surroundings(tmp_path, model.url("work"))
        ana = api.someone(1001, "Ana")
        chat = ana.private
        async with serve(tmp_path, environ) as hub:
            folder = await add_shop(tmp_path)
            ana.start()
            await message(chat, "/new – Start a session")
            ana.write("/new shop Fix the cart")
            await draft_with(chat, "Looking at the cart,")
            hub.child.kill()
            await hub.child.wait()

        async with serve(tmp_path, environ):
            await draft_with(chat, "Fix the cart")
            model.release("looking")
            answer = await message(chat, "All green: npm test passed.")
            assert answer.marked("bold") == ["green"]
            assert answer.marked("code") == ["npm test"]
            assert " s · $" in answer.text

            ana.write("and the checkout")
            await message(chat, "Heard: and the checkout")
            ana.send_photo(PICTURE, "what is this?")
            await message(chat, "I see image/png.")
            ana.write("show me code")
            await message(chat, "📎 code-1.py")
            await file(chat, "code-1.py")
            (folder / "plot.png").write_bytes(PICTURE)
            ana.write("the plot, please", reply_to=answer)
            await chat.until(
                lambda shown: any(each.file and each.file.photo for each in shown if each.by_bot), DEADLINE
            )

            ana.write("a long one")
            await draft_with(chat, "Before it")
            ana.stop_generation()
            await message(chat, "The turn was interrupted.")
            model.release("speaking")

            ana.write("/stop")
            question = await message(chat, "Stop “Fix the cart”? You can resume it later.")
            assert await ana.press(question, "Stop it").toast() == "Stopping “Fix the cart”."
            await message(chat, "Stopped: ana stopped it")
            ana.write("one more thing")
            offer = await message(chat, "“Fix the cart” has ended.")
            assert await ana.press(offer, "Resume").toast() == "Resuming “Fix the cart”."
        await stop_all(tmp_path, environ)
        shown = [each.text for each in chat.from_bot]
        assert sum("All green" in text for text in shown) == 1, "an answer is sent once"
        assert api.refused == 0
        assert model.errors == []
        assert "Traceback" not in (tmp_path / "errors.txt").read_text()


async def test_a_message_in_a_projects_topic_starts_a_session_with_its_own_topic_that_survives_a_killed_hub(
    tmp_path: Path,
) -> None:
    async with bot_api(pace=PACE) as api, ScriptedModel({"work": work}) as model:
        ana = api.someone(1001, "Ana")
        team = api.forum("Team", ana)
        topic = ana.open_topic(team, "Shop")
        settle_in(tmp_path, settings(api, f'routes = {{shop = "{team.number}:{topic}"}}\nsession_topics = true\n'))
        environ = surroundings(tmp_path, model.url("work"))
        async with serve(tmp_path, environ) as hub:
            await add_shop(tmp_path)
            ana.write("Fix the cart", team, topic)
            progress = await team.button("Interrupt", DEADLINE)
            assert progress.topic not in (None, topic)
            await team.until(lambda _: "Looking at the cart," in progress.text or None, DEADLINE)
            ana.write("faster", team, progress.topic)
            await team.until(lambda _: "1 message queued" in progress.text or None, DEADLINE)
            hub.child.kill()
            await hub.child.wait()

        async with serve(tmp_path, environ):
            before = progress.text
            await team.until(lambda _: progress.text != before or None, DEADLINE)
            assert [each.number for each in team.from_bot if "Interrupt" in each.buttons] == [progress.number]
            model.release("looking")
            answer = await message(team, "All green")
            assert answer.topic == progress.topic
            await team.until(lambda _: progress.deleted or None, DEADLINE)
            await message(team, "Heard: faster")
            ana.write("/stop", team, progress.topic)
            question = await message(team, "Stop “")
            assert question.topic == progress.topic
            ana.press(question, "Stop it")
            await team.until(lambda _: team.topics[progress.topic or 0].closed or None, DEADLINE)
        assert sum(each.text.startswith("All green") for each in team.from_bot) == 1, "an answer is sent once"
        assert len(team.topics) == 2
        await stop_all(tmp_path, environ)
        assert api.refused == 0
        assert model.errors == []
        assert "Traceback" not in (tmp_path / "errors.txt").read_text()
