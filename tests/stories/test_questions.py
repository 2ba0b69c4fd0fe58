"""Stories: Claude asks a question, and someone answers."""

from pathlib import Path
from typing import Any

from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.wire.frames import Result
from stories.bed import Bed, BedTalk, answered, parts, read


def question(text: str, *labels: str, multiple: bool = False) -> dict[str, Any]:
    options = [{"label": label, "description": f"{label}, then"} for label in labels]
    return {"question": text, "header": text.split()[-1].strip("?"), "options": options, "multiSelect": multiple}


DATABASE = question("Which database?", "SQLite", "Postgres")
COLOURS = question("Which colours?", "Red", "Green", "Blue", multiple=True)
NAME = question("What name?", "Robin", "Wren")


def choose(conversation: Conversation) -> Script:
    conversation = yield [say("Let me ask."), use("AskUserQuestion", questions=[DATABASE])]
    yield [say(conversation.result().text)]


def choose_more(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[COLOURS, NAME])]
    yield [say(conversation.result().text)]


def wave_away(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[DATABASE])]
    yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]


def refuse(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[DATABASE])]
    yield [say(f"{conversation.result().is_error}: {conversation.result().text}")]


SCRIPT = parts(choose=choose, choose_more=choose_more, wave_away=wave_away, refuse=refuse)


async def test_a_question_is_answered_with_one_of_its_options(bed: Bed, talk: BedTalk) -> None:
    await talk.say("choose")
    request_id, asked = await talk.until_asked()
    assert asked.tool_name == "AskUserQuestion"
    assert read(asked.input)["questions"] == [DATABASE]
    await talk.allow(request_id, asked, answers={"Which database?": "SQLite"})

    assert '"Which database?"="SQLite"' in answered(await talk.until(Result))
    assert bed.model.errors == []


async def test_two_questions_in_one_call_take_several_options_and_words_of_ones_own(talk: BedTalk) -> None:
    await talk.say("choose_more")
    request_id, asked = await talk.until_asked()
    assert [each["multiSelect"] for each in read(asked.input)["questions"]] == [True, False]
    own = 'Ada "Augusta"\nKing, 🦉'
    await talk.allow(request_id, asked, answers={"Which colours?": "Red, Blue", "What name?": own})

    heard = answered(await talk.until(Result))
    assert '"Which colours?"="Red, Blue"' in heard
    assert own in heard


async def test_a_question_that_is_waved_away_tells_claude_why(talk: BedTalk) -> None:
    await talk.say("wave_away")
    request_id, _ = await talk.until_asked()
    await talk.deny(request_id, "Nobody answered; decide yourself.")

    assert answered(await talk.until(Result)) == "True: Nobody answered; decide yourself."


async def test_a_question_is_asked_even_where_nothing_else_is(tmp_path: Path) -> None:
    def script(conversation: Conversation) -> Script:
        conversation = yield [use("Bash", command="echo unasked", description="Echo")]
        conversation = yield [use("AskUserQuestion", questions=[DATABASE])]
        yield [say(conversation.result().text)]

    async with Bed(tmp_path, script=script) as bed:
        talk = await bed.start("script", mode="bypassPermissions")
        await talk.say("Begin.")
        request_id, asked = await talk.until_asked()
        assert asked.tool_name == "AskUserQuestion"
        await talk.allow(request_id, asked, answers={"Which database?": "Postgres"})

        assert "Postgres" in answered(await talk.until(Result))


async def test_a_question_that_we_cannot_show_fails_with_our_words_and_claude_goes_on(talk: BedTalk) -> None:
    await talk.say("refuse")
    request_id, _ = await talk.until_asked()
    await talk.claude.write(talk.wire.send_refusal(request_id, "this cannot be shown"))

    heard = answered(await talk.until(Result))
    assert heard.startswith("True: ")
    assert heard.endswith("this cannot be shown")
