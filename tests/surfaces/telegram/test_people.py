"""What people do, and what the bot hears of it."""

from typing import Any

import pytest

from surfaces.telegram.bare_client import BareClient
from surfaces.telegram.bot_api import BOT, BotApi
from surfaces.telegram.people import Someone

pytestmark = pytest.mark.anyio


async def heard(bot: BareClient) -> list[dict[str, Any]]:
    """New updates, which are confirmed."""
    updates: list[dict[str, Any]] = await bot.call("getUpdates")
    if updates:
        await bot.call("getUpdates", offset=updates[-1]["update_id"] + 1)
    return updates


async def texts(bot: BareClient) -> list[str]:
    return [each["message"].get("text", "") for each in await heard(bot) if "message" in each]


async def test_a_bot_writes_only_to_people_who_started_it(bot: BareClient, ben: Someone) -> None:
    refusal = await bot.refusal("sendMessage", chat_id=ben.number, text="a")
    assert refusal == "403 Forbidden: bot can't initiate conversation with a user"
    assert await bot.refusal("sendMessage", chat_id=4711, text="a") == "400 Bad Request: chat not found"
    ben.start()
    assert await bot.call("sendMessage", chat_id=ben.number, text="a")


async def test_a_blocked_bot_hears_of_it_and_cannot_write(bot: BareClient, ana: Someone) -> None:
    ana.block()
    assert (
        await bot.refusal("sendMessage", chat_id=ana.number, text="a") == "403 Forbidden: bot was blocked by the user"
    )
    changed = (await heard(bot))[-1]["my_chat_member"]
    assert (changed["old_chat_member"]["status"], changed["new_chat_member"]["status"]) == ("member", "kicked")
    ana.unblock()
    assert await bot.call("sendMessage", chat_id=ana.number, text="a")


async def test_a_reply_carries_what_it_replies_to(bot: BareClient, ana: Someone) -> None:
    await bot.call("sendMessage", chat_id=ana.number, text="Why?")
    ana.write("Because", reply_to=ana.private.last)
    message = (await heard(bot))[-1]["message"]
    assert (message["text"], message["reply_to_message"]["text"]) == ("Because", "Why?")


async def test_commands_are_marked(bot: BareClient, ana: Someone) -> None:
    ana.write("/new fix it")
    assert (await heard(bot))[-1]["message"]["entities"] == [{"type": "bot_command", "offset": 0, "length": 4}]


async def test_an_edit_of_a_person_is_an_update(bot: BareClient, ana: Someone) -> None:
    ana.edit(ana.write("helo"), "hello")
    assert (await heard(bot))[-1]["edited_message"]["text"] == "hello"


async def test_deleted_messages_are_gone_without_a_word(bot: BareClient, ana: Someone) -> None:
    sent = await bot.call("sendMessage", chat_id=ana.number, text="Run it?")
    await heard(bot)
    message = ana.private.last
    ana.delete(message)

    where = {"chat_id": ana.number, "message_id": sent["message_id"]}
    assert await heard(bot) == []
    assert await bot.refusal("editMessageText", **where, text="b") == "400 Bad Request: message to edit not found"
    assert await bot.refusal("deleteMessage", **where) == "400 Bad Request: message to delete not found"
    reply = {"message_id": sent["message_id"]}
    refusal = await bot.refusal("sendMessage", chat_id=ana.number, text="b", reply_parameters=reply)
    assert refusal == "400 Bad Request: message to be replied not found"
    reply["allow_sending_without_reply"] = True
    assert await bot.call("sendMessage", chat_id=ana.number, text="b", reply_parameters=reply)
    assert ana.press_data(message, "x")
    assert (await heard(bot))[-1]["callback_query"]["message"]["date"] == 0


async def test_a_bot_deletes_its_own_messages(bot: BareClient, ana: Someone) -> None:
    sent = await bot.call("sendMessage", chat_id=ana.number, text="a")
    await bot.call("deleteMessage", chat_id=ana.number, message_id=sent["message_id"])
    assert ana.private.shown == ["Ana: /start"]


async def test_a_bot_edits_only_its_own_messages(bot: BareClient, ana: Someone) -> None:
    message = ana.write("mine")
    refusal = await bot.refusal("editMessageText", chat_id=ana.number, message_id=message.number, text="yours")
    assert refusal == "400 Bad Request: message can't be edited"


async def test_in_groups_a_bot_hears_what_is_meant_for_it(
    api: BotApi, bot: BareClient, ana: Someone, ben: Someone
) -> None:
    team = api.group("Team", ana, ben)
    await bot.call("sendMessage", chat_id=team.number, text="Hello")
    await heard(bot)
    ana.write("between us", to=team)
    ben.write("/inbox", to=team)
    ben.write("/inbox@another_bot", to=team)
    ana.write(f"@{BOT.username} hi", to=team)
    ana.write("indeed", reply_to=team.last)
    assert await texts(bot) == ["/inbox", f"@{BOT.username} hi", "indeed"]
    ana.add_bot(team, admin=True)
    ana.write("between us", to=team)
    assert await texts(bot) == ["between us"]


async def test_a_removed_bot_cannot_write(api: BotApi, bot: BareClient, ana: Someone) -> None:
    team = api.group("Team", ana)
    ana.kick_bot(team)
    refusal = await bot.refusal("sendMessage", chat_id=team.number, text="a")
    assert refusal == "403 Forbidden: bot was kicked from the group chat"


async def test_an_upgraded_group_has_a_new_number(api: BotApi, bot: BareClient, ana: Someone) -> None:
    team = api.group("Team", ana)
    await heard(bot)
    upgraded = api.upgrade(team)

    moved = await bot.answer("sendMessage", chat_id=team.number, text="a")
    assert moved["description"] == "Bad Request: group chat was upgraded to a supergroup chat"
    assert moved["parameters"] == {"migrate_to_chat_id": upgraded.number}
    first, second = [each["message"] for each in await heard(bot)]
    assert (first["chat"]["id"], first["migrate_to_chat_id"]) == (team.number, upgraded.number)
    assert (second["chat"]["id"], second["migrate_from_chat_id"]) == (upgraded.number, team.number)
    assert await bot.call("sendMessage", chat_id=upgraded.number, text="a")


async def test_topics_are_separate(api: BotApi, bot: BareClient, ana: Someone) -> None:
    forum = api.forum("Team", ana)
    shop = (await bot.call("createForumTopic", chat_id=forum.number, name="shop"))["message_thread_id"]
    await bot.call("sendMessage", chat_id=forum.number, message_thread_id=shop, text="in shop")
    await bot.call("sendMessage", chat_id=forum.number, text="in General")
    await heard(bot)
    ana.write("start here", to=forum, topic=shop)

    assert forum.shown == [f"Handraise #{shop}: in shop", "Handraise: in General", f"Ana #{shop}: start here"]
    message = (await heard(bot))[-1]["message"]
    assert (message["message_thread_id"], message["is_topic_message"]) == (shop, True)
    assert message["reply_to_message"]["forum_topic_created"]["name"] == "shop"
    for unknown in (1, 999):
        refusal = await bot.refusal("sendMessage", chat_id=forum.number, message_thread_id=unknown, text="a")
        assert refusal == "400 Bad Request: message thread not found"


async def test_topics_are_closed_and_renamed(api: BotApi, bot: BareClient, ana: Someone) -> None:
    forum = api.forum("Team", ana)
    topic = ana.open_topic(forum, "shop")
    where = {"chat_id": forum.number, "message_thread_id": topic}
    await bot.call("closeForumTopic", **where)
    await bot.call("editForumTopic", **where, name="shop (done)")
    assert (forum.topics[topic].name, forum.topics[topic].closed) == ("shop (done)", True)
    assert "TOPIC_NOT_MODIFIED" in await bot.refusal("closeForumTopic", **where)
    assert "not a forum" in await bot.refusal("createForumTopic", chat_id=ana.number, name="a")
    plain = api.forum("Others", admin=False)
    assert "not enough rights" in await bot.refusal("createForumTopic", chat_id=plain.number, name="a")


async def test_supergroups_count_their_own_messages(api: BotApi, bot: BareClient, ana: Someone, ben: Someone) -> None:
    ben.start()
    one, two = api.supergroup("One", ana), api.supergroup("Two", ana)
    numbers = [
        (await bot.call("sendMessage", chat_id=chat, text="a"))["message_id"]
        for chat in (one.number, two.number, ana.number, ben.number)
    ]
    assert numbers[0] == numbers[1]
    assert numbers[2] != numbers[3]


async def test_a_reply_in_a_supergroup_belongs_to_a_thread(api: BotApi, bot: BareClient, ana: Someone) -> None:
    team = api.supergroup("Team", ana)
    await bot.call("sendMessage", chat_id=team.number, text="Hello")
    ana.write("Hi", reply_to=team.last)
    message = (await heard(bot))[-1]["message"]
    assert message["message_thread_id"] == team.last.number
    assert "is_topic_message" not in message
    assert await bot.call("sendMessage", chat_id=team.number, message_thread_id=team.last.number, text="ok")


async def test_a_draft_shows_until_the_message_comes(bot: BareClient, ana: Someone, api: BotApi) -> None:
    await bot.call("sendMessageDraft", chat_id=ana.number, draft_id=7, text="")
    await bot.call("sendMessageDraft", chat_id=ana.number, draft_id=7, text="Wor", can_stop=True)
    assert ana.private.draft
    assert ana.private.draft.text == "Wor"
    ana.stop_generation()
    stopped = (await heard(bot))[-1]["stopped_message_generation"]
    assert (stopped["chat"]["id"], stopped["draft_id"]) == (ana.number, 7)

    await bot.call("sendMessageDraft", chat_id=ana.number, draft_id=8, text="Work")
    await bot.call("sendMessage", chat_id=ana.number, text="Worked")
    assert ana.private.draft is None
    team = api.group("Team", ana)
    assert "private chats" in await bot.refusal("sendMessageDraft", chat_id=team.number, draft_id=1, text="a")
    assert "non-zero" in await bot.refusal("sendMessageDraft", chat_id=ana.number, draft_id=0, text="a")


async def test_files_and_photos_reach_the_bot(api: BotApi, bot: BareClient, ana: Someone) -> None:
    ana.send_file("notes.txt", b"remember", "for later")
    ana.send_photo(b"\xff\xd8 a photo")
    document, photo = [each["message"] for each in (await heard(bot))[-2:]]
    assert (document["caption"], document["document"]["file_name"]) == ("for later", "notes.txt")
    assert document["document"]["mime_type"] == "text/plain"
    for number, content in ((document["document"], b"remember"), (photo["photo"][-1], b"\xff\xd8 a photo")):
        path = (await bot.call("getFile", file_id=number["file_id"]))["file_path"]
        assert (await bot.http.get(f"{api.base}/file/bot{api.token}/{path}")).content == content
    assert (await bot.http.get(f"{api.base}/file/bot1:wrong/{path}")).status_code == 404
    ana.send_file("large", b"a" * (20 * 1024 * 1024 + 1))
    large = (await heard(bot))[-1]["message"]["document"]["file_id"]
    assert "file is too big" in await bot.refusal("getFile", file_id=large)


async def test_a_bot_sends_files_and_photos(bot: BareClient, ana: Someone) -> None:
    where = {"chat_id": str(ana.number)}
    bold = '[{"type": "bold", "offset": 0, "length": 3}]'
    sent = await bot.upload(
        "sendDocument", "document", "change.diff", b"+1\r\n-2\n", **where, caption="The diff", caption_entities=bold
    )
    assert sent["ok"], sent
    message = ana.private.last
    assert (str(message), message.marked("bold")) == ("Handraise: (change.diff) The diff", ["The"])
    assert message.file
    assert message.file.content == b"+1\r\n-2\n"
    assert (await bot.upload("sendPhoto", "photo", "a.png", b"\x89PNG...", **where))["ok"]
    assert "IMAGE" in (await bot.upload("sendPhoto", "photo", "a.png", b"text", **where))["description"]
    edit = {"chat_id": ana.number, "message_id": message.number}
    assert "no text in the message" in await bot.refusal("editMessageText", **edit, text="a")
    await bot.call("editMessageCaption", **edit, caption="New")
    assert message.text == "New"


async def test_commands_are_registered(bot: BareClient) -> None:
    commands = [{"command": "new", "description": "Start a session"}]
    await bot.call("setMyCommands", commands=commands)
    assert await bot.call("getMyCommands") == commands
    for wrong in ({"command": "New", "description": "a"}, {"command": "a", "description": ""}):
        assert "INVALID" in await bot.refusal("setMyCommands", commands=[wrong])


async def test_members_are_known(api: BotApi, bot: BareClient, ana: Someone, ben: Someone) -> None:
    team = api.group("Team", ana)
    assert (await bot.call("getChat", chat_id=team.number))["title"] == "Team"

    async def status(person: int) -> str:
        return str((await bot.call("getChatMember", chat_id=team.number, user_id=person))["status"])

    assert [await status(each) for each in (ana.number, ben.number, BOT.number)] == ["member", "left", "member"]
    ben.join(team)
    ana.leave(team)
    assert [await status(each) for each in (ana.number, ben.number)] == ["left", "member"]


async def test_reactions_appear(bot: BareClient, ana: Someone) -> None:
    message = ana.write("done?")
    await bot.call(
        "setMessageReaction",
        chat_id=ana.number,
        message_id=message.number,
        reaction=[{"type": "emoji", "emoji": "👍"}],
    )
    assert message.reactions == ["👍"]


async def test_waiting_names_what_is_shown_instead(ana: Someone) -> None:
    with pytest.raises(AssertionError, match="Ana: /start"):
        await ana.private.message("never", deadline=0.01)
