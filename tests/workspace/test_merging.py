"""Our entries go into a project's files and out again; everything else stays as it is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.own_tools import ASK_USER, SERVER, qualified
from handraise.model.projects import Options
from handraise.workspace import merging
from handraise.workspace.json_texts import Unmergeable
from handraise.workspace.merging import FILES, MCP, NOTES, RECORD, SETTINGS, Texts, files_for

NOTHING: Texts = dict.fromkeys((*FILES, RECORD))
WANTED = files_for(Options(mode="plan", allowed_tools=("Read",)).over(Options()))
ENTRY = {"command": SERVER, "args": ["mcp"], "alwaysLoad": True}


def read(texts: Texts, name: str) -> Any:
    return json.loads(texts[name] or "null")


def test_an_empty_project_gets_all_three_files() -> None:
    after = merging.synced(NOTHING, WANTED)

    assert read(after, MCP) == {"mcpServers": {SERVER: ENTRY}}
    assert read(after, SETTINGS) == {
        "permissions": {"allow": ["Read", qualified(ASK_USER)], "defaultMode": "plan"},
        "enabledMcpjsonServers": [SERVER],
    }
    assert qualified(ASK_USER) in (after[NOTES] or "")
    assert merging.removed(after) == NOTHING


def test_no_server_stands_in_the_settings_where_claude_would_ignore_it() -> None:
    assert "mcpServers" not in read(merging.synced(NOTHING, WANTED), SETTINGS)


def test_what_is_there_stays() -> None:
    before = {
        **NOTHING,
        MCP: json.dumps({"mcpServers": {"other": {"command": "x"}}, "more": 1}),
        SETTINGS: json.dumps({"permissions": {"allow": ["Bash(ls)"], "deny": ["WebFetch"]}, "env": {"A": "b"}}),
        NOTES: "# My project\n\nBe kind.\n",
    }
    after = merging.synced(before, WANTED)

    assert read(after, MCP) == {"mcpServers": {"other": {"command": "x"}, SERVER: ENTRY}, "more": 1}
    settings = read(after, SETTINGS)
    assert settings["permissions"]["allow"] == ["Bash(ls)", "Read", qualified(ASK_USER)]
    assert (settings["permissions"]["deny"], settings["env"]) == (["WebFetch"], {"A": "b"})
    assert (after[NOTES] or "").startswith("# My project\n\nBe kind.\n\n")


def test_what_somebody_had_allowed_before_stays_allowed_afterwards() -> None:
    mine = {"permissions": {"allow": [qualified(ASK_USER)], "defaultMode": "plan"}, "enabledMcpjsonServers": [SERVER]}
    before = {**NOTHING, MCP: json.dumps({"mcpServers": {SERVER: ENTRY}}), SETTINGS: json.dumps(mine)}

    rest = merging.removed(merging.synced(before, WANTED))
    assert (read(rest, MCP), read(rest, SETTINGS)) == (read(before, MCP), mine)


def test_the_mode_that_was_there_comes_back() -> None:
    before = {**NOTHING, SETTINGS: json.dumps({"permissions": {"defaultMode": "acceptEdits"}})}
    after = merging.synced(before, WANTED)

    assert read(after, SETTINGS)["permissions"]["defaultMode"] == "plan"
    assert read(merging.removed(after), SETTINGS) == {"permissions": {"defaultMode": "acceptEdits"}}


def test_other_options_take_the_place_of_the_first() -> None:
    first = merging.synced(NOTHING, WANTED)
    off = files_for(Options(ask_user_enabled=False, allowed_tools=("Grep",)).over(Options()))
    second = merging.synced(first, off)

    assert second[MCP] is None
    assert second[NOTES] is None
    assert read(second, SETTINGS) == {"permissions": {"allow": ["Grep"]}}
    assert merging.removed(second) == NOTHING


def test_what_somebody_added_later_stays() -> None:
    after = merging.synced(NOTHING, WANTED)
    after[NOTES] = (after[NOTES] or "") + "\nMine.\n"
    after[MCP] = json.dumps({"mcpServers": {**read(after, MCP)["mcpServers"], "mine": {"command": "y"}}})
    rest = merging.removed(after)

    assert rest[NOTES] == "\nMine.\n"
    assert read(rest, MCP) == {"mcpServers": {"mine": {"command": "y"}}}


def test_the_indentation_is_kept() -> None:
    before = {**NOTHING, MCP: '{\n\t"mcpServers": {}\n}\n'}

    assert '\n\t"mcpServers": {\n\t\t"handraise"' in (merging.synced(before, WANTED)[MCP] or "")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (MCP, "{", "isn't valid JSON"),
        (SETTINGS, "// why\n{}", "isn't valid JSON"),
        (SETTINGS, "[]", "isn't a JSON object"),
        (MCP, '{"mcpServers": []}', "'mcpServers' isn't an object"),
        (SETTINGS, '{"permissions": {"allow": "all"}}', "'allow' isn't a list"),
        (MCP, '{"mcpServers": {"handraise": {"command": "mine"}}}', "has another server called"),
        (NOTES, merging._BEGIN + "cut", r"in the wrong order \(begin; expected"),
        (NOTES, "cut\n" + merging._END, r"in the wrong order \(end; expected"),
        (NOTES, merging._END + merging._BEGIN, r"in the wrong order \(end, begin; expected"),
        (NOTES, 2 * (merging._BEGIN + merging._END), r"in the wrong order \(begin, end, begin, end; expected"),
        (NOTES, merging._BEGIN + merging._BEGIN + merging._END, r"in the wrong order \(begin, begin, end; expected"),
        (MCP, '{"a": 1, "a": 2}', "a key appears twice"),
        (MCP, '{"mcpServers": {"x": {}, "x": {}}}', "a key appears twice"),
        (SETTINGS, '{"a": NaN}', "NaN isn't a number"),
        (SETTINGS, '{"a": 1e999}', "isn't valid JSON"),
        (SETTINGS, '{"a": ' + "[" * 100_000, "isn't valid JSON"),
        (MCP, "\ufeff{}", "isn't valid JSON"),
        (RECORD, "what?", "can't be read"),
    ],
)
def test_what_cannot_be_changed_is_left_alone_and_named(name: str, text: str, words: str) -> None:
    with pytest.raises(Unmergeable, match=words) as error:
        merging.synced({**NOTHING, name: text}, WANTED)
    assert name in str(error.value)


def test_a_section_stays_where_it_is() -> None:
    first = merging.synced({**NOTHING, NOTES: "# Mine\n"}, WANTED)
    first[NOTES] = (first[NOTES] or "").replace("the person wherever they are", "me") + "\nMore of mine.\n"
    second = merging.synced(first, WANTED)

    assert (second[NOTES] or "").endswith(f"{merging._END}\nMore of mine.\n")
    assert "the person wherever they are" in (second[NOTES] or "")
    assert merging.removed(second)[NOTES] == "# Mine\n\nMore of mine.\n"


def test_windows_ends_of_line_stay_and_are_used() -> None:
    before = {**NOTHING, NOTES: "# Mine\r\n", MCP: '{\r\n  "more": 1\r\n}\r\n'}
    after = merging.synced(before, WANTED)

    for name in (NOTES, MCP):
        assert (after[name] or "").count("\n") == (after[name] or "").count("\r\n") > 1
    assert merging.synced(after, WANTED) == after
    assert merging.removed(after)[NOTES] == "# Mine\r\n"


def test_a_section_that_an_editor_gave_other_ends_of_line_is_still_ours() -> None:
    after = merging.synced({**NOTHING, NOTES: "# Mine\n"}, WANTED)
    after[NOTES] = (after[NOTES] or "").replace("\n", "\r\n").removesuffix("\r\n")

    assert (merging.synced(after, WANTED)[NOTES] or "").count("handraise: begin") == 1
    assert merging.removed(after)[NOTES] == "# Mine\r\n"


def test_half_an_emoji_stays_half_an_emoji() -> None:
    before = {**NOTHING, MCP: '{"note": "\\ud83d \\u00e9"}'}
    after = merging.synced(before, WANTED)

    assert (after[MCP] or "").encode()
    assert read(after, MCP)["note"] == "\ud83d é"


def test_a_hub_elsewhere_is_named() -> None:
    wanted = files_for(Options().over(Options()), "/srv/state")

    assert wanted.server["args"] == ["mcp", "--state", "/srv/state"]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
words = st.text("abcxyz", min_size=1, max_size=6)
servers = st.dictionaries(words, st.dictionaries(words, texts, max_size=2), max_size=3)
settings = st.fixed_dictionaries(
    {},
    optional={
        "permissions": st.fixed_dictionaries(
            {},
            optional={
                "deny": st.lists(words, max_size=2),
                "allow": st.lists(words | st.just("Read"), max_size=3),
                "defaultMode": st.sampled_from(["plan", "default"]),
            },
        ),
        "enabledMcpjsonServers": st.lists(words, max_size=2),
        "other": texts,
    },
)
projects = st.fixed_dictionaries(
    {
        MCP: st.none() | st.just("{}") | servers.map(lambda each: json.dumps({"mcpServers": each})),
        SETTINGS: st.none() | settings.map(lambda each: json.dumps(each, indent=4)),
        NOTES: st.none() | (texts | texts.map(lambda text: f"{text}\r\n")).filter(lambda text: text != ""),
        RECORD: st.none(),
    }
)


@given(projects)
def test_twice_is_the_same_as_once(before: Texts) -> None:
    once = merging.synced(before, WANTED)

    assert merging.synced(once, WANTED) == once


@given(projects)
def test_taking_it_out_leaves_what_was_there(before: Texts) -> None:
    after = merging.removed(merging.synced(before, WANTED))

    assert {name: read(after, name) for name in (MCP, SETTINGS)} == {
        name: read(before, name) for name in (MCP, SETTINGS)
    }
    assert (after[NOTES], after[RECORD]) == (before[NOTES], None)
