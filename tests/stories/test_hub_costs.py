"""A story of cost: a session that reached its limit accepts nothing more until someone raises it."""

from pathlib import Path

import pytest

from handraise.demo.pieces import Script, say, spend
from handraise.demo.request import Conversation
from handraise.desk.interface import Refused
from handraise.model.items import Said, SessionEnded, SessionStarted
from handraise.model.projects import Options
from stories.house import house, seen
from stories.test_hub_begins_anew import until_taken
from stories.timeline import only, texts, times, until_turn


def dear(conversation: Conversation) -> Script:
    conversation = yield [spend(1000, 100_000), say("That was dear.")]
    while True:
        conversation = yield [say(f"You said: {conversation.text}")]


async def test_a_session_beyond_its_limit_is_refused_in_words_and_goes_on_when_the_limit_is_raised(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, dear) as (home, hub):
        project = await hub.desk.add_project(str(home.work), "my shop", Options(cost_limit_usd=0.5))
        session = (await hub.desk.start("Buy it.", project.name)).session
        contents = await seen(hub.desk, times(1, SessionEnded), session.id)
        (ended,) = only(SessionEnded, contents)
        assert ended.how == "stopped"
        assert ended.reason.endswith("the project's limit is $0.50")
        cost = (await hub.desk.session(session.id)).session.cost_usd
        assert cost > 0.5

        with pytest.raises(Refused) as refused:
            await hub.desk.resume(session.id, "Go on.")

        assert f"${cost:.2f}" in str(refused.value)
        assert "$0.50" in str(refused.value)
        assert "handraise project set 'my shop' cost_limit_usd=" in str(refused.value)
        assert (await hub.desk.session(session.id)).session.run == 1
        assert await hub.store.says(session.id) == []
        raised = int(str(refused.value).rpartition("=")[2].rstrip(")."))
        await hub.desk.change_project("my shop", None, Options(cost_limit_usd=raised))
        await hub.desk.resume(session.id, "Go on.")
        contents = await until_taken(hub, session, "Go on.")
        assert [each.text for each in only(Said, contents)] == ["Buy it.", "Go on."]
        assert len(only(SessionStarted, contents)) == 2
        assert texts(await until_turn(hub.desk, session, 2))[-1].endswith("Go on.")

        # A limit that is lowered while the session is idle holds for what is said next.
        await hub.desk.change_project("my shop", None, Options(cost_limit_usd=0.5))
        with pytest.raises(Refused, match="Raise the limit first"):
            await hub.desk.say(session.id, "More.")
        assert await hub.store.says(session.id) == []
