"""The person's own editor: unedited parts stay the same, to the byte."""

import os
import sys
from pathlib import Path

import pytest

from handraise.model.answers import Allow
from handraise.model.asks import Permission
from handraise.surfaces.terminal.cards import card
from handraise.surfaces.terminal.dialogue import Send, edited
from handraise.surfaces.terminal.editor import Editor, EditorFailed
from handraise.surfaces.terminal.lines import text_of
from surfaces.terminal.asked import dialogue, play
from surfaces.terminal.test_cards import FRAME

WEIRD = "one\r\ntwo \u202eowt\u200b\x0b\x0c\u2028\x85\r\nlone \r here\ud83d\r\n"


def editor(tmp: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Editor:
    """An editor that does this with `text`, the bytes of the file."""
    file = tmp / "editor.py"
    file.write_text(
        f"import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_bytes()\n{script}\n"
        "file.write_bytes(text)\n"
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {file}")
    return Editor(os.open(os.devnull, os.O_RDONLY))


async def test_hidden_characters_and_carriage_returns_survive_an_editor_that_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await editor(tmp_path, monkeypatch, "").edit(WEIRD, ".txt") == WEIRD


async def test_what_is_not_edited_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = "text = text.replace(b'one', b'1')"
    assert await editor(tmp_path, monkeypatch, change).edit(WEIRD, ".txt") == WEIRD.replace("one", "1")


async def test_bytes_that_are_no_text_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EditorFailed, match="UTF-8"):
        await editor(tmp_path, monkeypatch, "text = b'\\xff'").edit("x", ".txt")


def test_the_edited_step_shows_what_is_hidden_and_where_lines_end() -> None:
    asked = dialogue(Permission("Write", {"file_path": "/x", "content": "one\r\ntwo\r\n"}))
    changed = edited(asked, "one\r\n\u202e2\u200b\n")
    rows = [text_of(row) for row in card(changed, FRAME)]
    assert "▌ │ -two⟨U+000D⟩" in rows
    assert "▌ │ +⟨U+202E⟩2⟨U+200B⟩" in rows
    assert "▌ │  one⟨U+000D⟩" in rows


def test_a_line_end_that_an_editor_added_is_taken_off_again() -> None:
    asked = dialogue(Permission("Write", {"file_path": "/x", "content": "one\r\ntwo"}))
    for left in ("1\r\ntwo\r\n", "1\r\ntwo\n", "1\r\ntwo"):
        sent = play(edited(asked, left), "a", "enter")[1]
        assert sent == Send(Allow(input={"file_path": "/x", "content": "1\r\ntwo"}))
