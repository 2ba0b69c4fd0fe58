"""Stories of a hub: what Claude Code keeps for a person is answered by a person, whatever our rules say."""

import json
from pathlib import Path

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.answers import Allow
from handraise.model.asks import Ask, Permission, terms_of
from handraise.model.rules import Rule
from stories.house import House, next_ask, seen

QUESTION = {
    "question": "Which one?",
    "header": "One",
    "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
    "multiSelect": False,
}


def call_three(conversation: Conversation) -> Script:
    conversation = yield [use("Bash", command=f"touch {conversation.directory}/ruled", description="Touch a file")]
    conversation = yield [use("Bash", command=f"date > {conversation.directory}/asked", description="Note the time")]
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    yield [say("Done.")]


async def test_a_rule_of_ours_does_not_answer_what_the_user_told_claude_to_ask_about(tmp_path: Path) -> None:
    async with House(tmp_path, call_three, rules=(Rule("r_all", "allow", tool="Bash"),)) as home:
        settings = tmp_path / "home" / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"permissions": {"ask": ["Bash(date:*)"]}}))
        async with home.open_hub() as hub:
            session = (await hub.desk.start("Go.", str(home.work))).session
            first = await next_ask(hub.desk, session)
            # The rule answered the first call; the second one is for a person, this once.
            assert (home.work / "ruled").exists()
            assert is_for_a_person_once(first)
            await hub.desk.answer(first.id, Allow(), first.digest)
            question = await next_ask(hub.desk, session, {first.id})
            assert (home.work / "asked").exists()
            assert terms_of(question.body).person
            await hub.desk.stop(session.id)
            await seen(hub.desk, lambda content: type(content).__name__ == "SessionEnded", session.id)


def is_for_a_person_once(ask: Ask) -> bool:
    assert isinstance(ask.body, Permission)
    assert "Your Claude Code settings always ask about" in ask.why
    return (ask.body.tool, ask.body.offers, ask.body.suggestions) == ("Bash", (), ()) and terms_of(ask.body).is_strict
