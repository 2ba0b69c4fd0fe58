"""Stories of what sub-agents write: it is shown below the action of the agent that wrote it."""

from pathlib import Path

from handraise.demo.pieces import Script, agent, say, think, use
from handraise.demo.request import Conversation
from handraise.model.items import ActionStarted, Text, Thinking
from stories.house import house
from stories.timeline import only, until_turn


def scout(conversation: Conversation) -> Script:
    yield [think("Where to begin?"), say("I look around."), use("Bash", command="pwd", description="Where")]
    yield [say("Nobody is here.")]


def send(conversation: Conversation) -> Script:
    yield [say("I send somebody."), agent("Look", "Look around", scout)]
    yield [say("Nobody was there.")]


async def test_what_a_sub_agent_writes_is_below_its_action(tmp_path: Path) -> None:
    async with house(tmp_path, send) as (home, hub):
        session = (await hub.desk.start("Send somebody.", str(home.work))).session
        contents = await until_turn(hub.desk, session)

    actions = {each.tool: each for each in only(ActionStarted, contents) if not each.action.startswith("task:")}
    sent = actions["Agent"].action
    assert [(each.text, each.parent) for each in only(Text, contents)] == [
        ("I send somebody.", None),
        ("I look around.", sent),
        ("Nobody is here.", sent),
        ("Nobody was there.", None),
    ]
    assert [(each.text, each.parent) for each in only(Thinking, contents)] == [("Where to begin?", sent)]
    assert actions["Bash"].parent == sent
