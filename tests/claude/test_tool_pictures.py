"""Images in results: found by their tool call in the journals of a session, and nothing else is."""

import json
from pathlib import Path
from typing import Any

import pytest

from handraise.claude.tool_pictures import ToolPictures

GIF = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlh"}}
TEXT = {"type": "text", "text": "A chart."}


def result(use: str, *pieces: Any, kind: str = "user") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": use, "content": list(pieces)}
    return {"type": kind, "message": {"role": "user", "content": [block]}}


def journal(sessions: Path, run: str, *lines: Any) -> None:
    folder = sessions / "s_1" / run
    folder.mkdir(parents=True)
    written = [each if isinstance(each, str) else json.dumps(each, separators=(",", ":")) for each in lines]
    (folder / "out.ndjson").write_text("\n".join(written) + "\n")


async def test_an_image_is_found_by_its_call_and_number(tmp_path: Path) -> None:
    request = {"type": "control_request", "request": {"subtype": "can_use_tool", "tool_use_id": "t_1"}}
    other = {**GIF, "n": 2}
    journal(tmp_path, "1", request, "not json", result("t_0", GIF), result("t_1", TEXT, GIF, other))
    pictures = ToolPictures(tmp_path)

    assert await pictures.find("s_1", "t_1", 0) == GIF
    assert await pictures.find("s_1", "t_1", 1) == other
    assert await pictures.find("s_1", "t_1", 2) is None
    assert await pictures.find("s_1", "t_9", 0) is None


async def test_every_run_of_the_session_is_looked_through(tmp_path: Path) -> None:
    journal(tmp_path, "1", result("t_1", GIF))
    journal(tmp_path, "2", result("t_2", TEXT))
    (tmp_path / "s_1" / "10").mkdir()

    assert await ToolPictures(tmp_path).find("s_1", "t_1", 0) == GIF


@pytest.mark.parametrize("action", ["", ".", "../../x", 't_1"', "t_1\n", "x" * 300, "t_1,", ".*"])
async def test_a_name_that_is_no_call_is_not_looked_for(tmp_path: Path, action: str) -> None:
    journal(tmp_path, "1", result("t_1", GIF))

    assert await ToolPictures(tmp_path).find("s_1", action, 0) is None


async def test_what_only_looks_like_a_result_is_none(tmp_path: Path) -> None:
    quoted = {"type": "user", "message": {"content": json.dumps(result("t_1", GIF), separators=(",", ":"))}}
    journal(
        tmp_path,
        "1",
        quoted,
        result("t_1", GIF, kind="assistant"),
        {"type": "user", "message": {"content": [7, {"type": "tool_result"}]}},
        {"type": "user", "message": None, "tool_use_id": "t_1"},
    )

    assert await ToolPictures(tmp_path).find("s_1", "t_1", 0) is None


async def test_a_session_without_a_journal_has_none(tmp_path: Path) -> None:
    (tmp_path / "s_1" / "1").mkdir(parents=True)
    (tmp_path / "s_1" / "1" / "out.ndjson").touch()

    assert await ToolPictures(tmp_path).find("s_1", "t_1", 0) is None
    assert await ToolPictures(tmp_path).find("s_2", "t_1", 0) is None
