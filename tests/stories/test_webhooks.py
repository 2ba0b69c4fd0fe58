"""A story of webhooks: real Claude Code, a hub that is killed while it sends, and a receiver that gets everything."""

from pathlib import Path

from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.items import TurnEnded
from stories.serving_house import command, desk, serve, settle_in, surroundings
from stories.test_serve import QUESTION, next_ask, until
from surfaces.webhooks.receiver import receiver, silence

SETTINGS = "[webhooks]\nprivate_addresses = true\n"


def choose(conversation: Conversation) -> Script:
    conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[QUESTION])]
    yield [say(f"Heard: {conversation.result().text}")]


async def test_a_receiver_hears_of_everything_although_the_hub_is_killed_while_it_sends(tmp_path: Path) -> None:
    settle_in(tmp_path, SETTINGS)
    (tmp_path / "work").mkdir()
    async with ScriptedModel({"choose": choose}) as model, receiver() as there:
        environ = surroundings(tmp_path, model.url("choose"))
        async with serve(tmp_path, environ), desk(tmp_path) as owner:
            code, text = await command(environ, "webhooks", "add", there.url(), "--name", "chat")
            assert code == 0, text
            secret = text.split()[-1]
            assert (await command(environ, "webhooks", "test", "chat"))[0] == 0
            there.always = silence
            session = (await owner.start("Choose a database.", str(tmp_path / "work"))).session
            ask = await next_ask(owner, session.id)
            # The receiver has the first event and doesn't answer; the others are queued. Then the hub is killed.
            await there.until_about(("session.started", session.id))
        there.always = None

        async with serve(tmp_path, environ), desk(tmp_path) as owner:
            await there.until_about(("ask.opened", ask.id))
            code, text = await command(environ, "answer", ask.id, "--choose", "SQLite")
            assert (code, text) == (0, "Answered.\n")
            await until(owner, TurnEnded)
            assert (await command(environ, "stop", session.id))[0] == 0
            await there.until_about(
                ("session.started", session.id),
                ("ask.settled", ask.id),
                ("ask.delivered", ask.id),
                ("turn.ended", session.id),
                ("session.ended", session.id),
            )
            code, text = await command(environ, "webhooks", "deliveries", "chat")
            assert code == 0
            assert "session.ended" in text
        received = there.received[1:]
        assert all(each.is_signed_with(secret) for each in received)
        assert len({(each.about, each.id) for each in received}) == len({each.about for each in received})
        assert len([each for each in received if each.type == "session.started"]) >= 2, "and it has the same ID"
        (opened, *_) = [each for each in received if each.type == "ask.opened"]
        assert opened.data["ask"]["kind"] == "question"
        assert opened.data["link"].endswith(f"/sessions/{session.id}#card-{ask.id}")
        for each in received:
            assert b"Which database" not in each.raw
            assert b"SQLite" not in each.raw
            assert b"Choose a database" not in each.raw
        assert model.errors == []
