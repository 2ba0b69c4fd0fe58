"""Stories of a Claude that isn't signed in: it says what to do, and the session continues afterwards."""

import json
from pathlib import Path

from handraise.claude.locate import locate
from handraise.demo.pieces import Script, say
from handraise.demo.request import Conversation
from handraise.model.items import Notice, SessionStarted, Text, TurnEnded
from stories.house import House, seen
from stories.timeline import only


def answers(conversation: Conversation) -> Script:
    while True:
        conversation = yield [say(f"Heard: {conversation.text}")]


class SignedOut(House):
    """Claude finds no key in its environment; a home of its own is where it looks then."""

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in super().environment.items() if name != "ANTHROPIC_API_KEY"}


def sign_in(home: Path) -> None:
    """A key as a sign-in to the Console leaves it: a running Claude does not notice."""
    own = home / ".claude.json"
    own.write_text(json.dumps({**json.loads(own.read_text()), "primaryApiKey": "scripted"}))


async def test_who_is_not_signed_in_reads_the_command_and_goes_on_after_it(tmp_path: Path) -> None:
    async with SignedOut(tmp_path, answers) as home, home.open_hub() as hub:
        desk = hub.desk
        session = (await desk.start("Begin.", str(home.work))).session
        contents = await seen(desk, lambda content: getattr(content, "phase", "") == "parked", session.id)
        turn = only(TurnEnded, contents)[0]

        assert turn.is_error
        assert f"`{locate()} auth login`" in (turn.error or "")
        assert not only(Text, contents), "Claude's own advice does not fit here"

        sign_in(tmp_path / "home")
        await desk.say(session.id, "Go on.")
        contents = await seen(desk, lambda content: isinstance(content, TurnEnded) and not content.is_error, session.id)

        assert any(each.text.endswith("Go on.") for each in only(Text, contents))
        assert not [each for each in only(Notice, contents) if each.about == "starts over"]
        assert [each.run for each in only(SessionStarted, contents)] == [1, 2]
