"""What Claude offers: read from its answer to `initialize`, whatever that holds."""

import json
from pathlib import Path
from typing import Any

import pytest

from handraise.model.abilities import Abilities, ModelChoice, SlashCommand
from handraise.model.items import TurnEnded
from handraise.session import abilities
from handraise.session.abilities import abilities_in
from handraise.session.commands import Learn
from handraise.session.usage import context_limit, tokens_in
from session.claude_says import acknowledged, idle, of, published, result, starting, working

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("*-text.ndjson"))
OFFERED = {
    "commands": [{"name": "compact", "description": "Clear\nthe   context", "argumentHint": "[what to keep]"}],
    "models": [{"value": "sonnet", "displayName": "Sonnet", "description": "For daily use"}],
}
KNOWN = Abilities(
    (SlashCommand("compact", "Clear the context", "[what to keep]"),),
    (ModelChoice("sonnet", "Sonnet", "For daily use"),),
)


def test_the_first_answer_and_the_one_after_a_restart_teach_what_claude_offers() -> None:
    first = starting().hear(acknowledged("handraise-hello", response=OFFERED))
    talk = idle()
    talk.machine.memory.wants["handraise-7"] = ("initialize", "")
    second = talk.hear(acknowledged("handraise-7", response=OFFERED))

    assert [each.abilities for each in of(Learn, first)] == [KNOWN]
    assert [each.abilities for each in of(Learn, second)] == [KNOWN]


def test_an_answer_to_something_else_teaches_nothing() -> None:
    talk = idle()
    talk.machine.memory.wants["handraise-7"] = ("set_model", "x")

    assert of(Learn, talk.hear(acknowledged("handraise-7", response=OFFERED))) == []


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_every_recorded_version_offers_commands_and_models(recording: Path) -> None:
    found = [
        abilities_in(line["response"].get("response"))
        for line in map(json.loads, recording.read_text().splitlines())
        if line.get("type") == "control_response"
    ]
    known = next(each for each in found if each is not None)

    assert "compact" in [each.name for each in known.commands]
    assert "sonnet" in [each.value for each in known.models]
    assert all(each.description for each in known.models)


@pytest.mark.parametrize(
    "odd", [None, 7, [], {}, {"commands": 3, "models": "x"}, {"commands": [1, None, {}, {"name": 5}, {"name": ""}]}]
)
def test_an_odd_answer_is_no_answer(odd: Any) -> None:
    assert abilities_in(odd) is None


def test_what_is_sent_back_is_whole_and_harmless_or_left_out() -> None:
    names = ["ok", "a b", "line\nbreak", "turn\u202earound", "x" * 101, "\ud83d", "mcp:x:y"]
    commands = [{"name": name, "description": "\ud83d" + "long " * 1000} for name in names]
    found = abilities_in({"commands": commands})

    assert found is not None
    assert [each.name for each in found.commands] == ["ok", "mcp:x:y"]
    assert all(len(each.description) <= 300 for each in found.commands)
    assert abilities.load(next(iter(abilities.saved(found, "m", "/d")[1:])).value) == found  # type: ignore[union-attr]


def test_there_are_limits_to_how_much_is_kept() -> None:
    found = abilities_in({"commands": [{"name": f"c{number}"} for number in range(5000)]})
    assert found is not None
    assert len(found.commands) == 300


def test_a_record_of_another_version_is_read_as_nothing() -> None:
    assert abilities.load(b"[1") == Abilities()
    assert abilities.load(b'{"commands": 3}') == Abilities()


def test_a_turn_ends_with_how_full_the_context_is() -> None:
    talk = working()
    usage = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 80, "output_tokens": 10}
    message = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "Hi"}], "usage": usage}
    talk.hear({"type": "assistant", "message": message})
    ended = published(TurnEnded, talk.hear(result(modelUsage={"big": {"contextWindow": 200_000}})))

    assert [(each.context, each.context_limit) for each in ended] == [(1000, 200_000)]


def test_a_sub_agent_does_not_fill_the_context() -> None:
    talk = working()
    message = {"id": "m", "role": "assistant", "content": [], "usage": {"input_tokens": 500}}
    talk.hear({"type": "assistant", "message": message, "parent_tool_use_id": "t_1"})

    assert [each.context for each in published(TurnEnded, talk.hear(result()))] == [0]


def test_odd_numbers_of_tokens_count_as_none() -> None:
    assert tokens_in({"input_tokens": True, "output_tokens": -4, "cache_read_input_tokens": 1e9}) == 0
    assert tokens_in(None) == 0
    assert context_limit({"a": 3, "b": {"contextWindow": "x"}}, "a") == 0
    assert context_limit({"a": {"contextWindow": 5}, "b": {"contextWindow": 9}}, "a") == 5
    assert context_limit({"a": {"contextWindow": 5}, "b": {"contextWindow": 9}}, "c") == 9
