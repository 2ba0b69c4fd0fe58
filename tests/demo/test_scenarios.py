import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from demo.real_claude import ClaudeTalk, Frame, talk_with_claude
from demo.requests import assistant, request, tool_result, tool_use, user
from handraise.demo import Conversation, Script, ScriptedModel
from handraise.demo.project import FREE_DISK, SERVICE_FILES, UPTIME, health_test, service_with_health
from handraise.demo.scenarios import WHAT, WHERE, choice, health_endpoint

WISH = "Add a health endpoint, please."


def again_and_again(conversation: Conversation) -> Script:
    """The story from its beginning, each time it is wished for."""
    while True:
        story = health_endpoint(conversation)
        pieces = next(story)
        while True:
            conversation = yield pieces
            if conversation.text == WISH:
                break
            pieces = story.send(conversation)


async def play(
    talk: ClaudeTalk, frames: AsyncIterator[Frame], home: Path, *, refuse: str = ""
) -> tuple[list[str], str]:
    """Plays the story with a person who allows all but the tool `refuse`: what was asked, and how it ended."""
    asked: list[str] = []
    (home / "test_health.py").unlink(missing_ok=True)
    for name, text in SERVICE_FILES.items():
        (home / name).write_text(text)
    talk.say(WISH)
    async for frame in frames:
        if frame["type"] == "control_request":
            asked.append(frame["request"]["tool_name"])
            _answer(talk, frame, refuse)
        elif frame["type"] == "result":
            return asked, frame["result"]
    raise AssertionError(f"no result: {asked}")


def _answer(talk: ClaudeTalk, ask: Frame, refuse: str) -> None:
    tool = ask["request"]["tool_name"]
    if tool == refuse:
        talk.deny(ask, "Rather not.")
    elif tool == "AskUserQuestion":
        talk.allow(ask, answers={WHERE: "/healthz", WHAT: f"{UPTIME}, {FREE_DISK}"})
    else:
        talk.allow(ask)


REFUSALS = (
    ("AskUserQuestion", ["AskUserQuestion", "ExitPlanMode", "Write", "Write", "Bash"], "`/health`"),
    ("Write", ["AskUserQuestion", "ExitPlanMode", "Write", "Write"], "half a change"),
    ("Bash", ["AskUserQuestion", "ExitPlanMode", "Write", "Write", "Bash"], "were not run"),
    # The last, since Claude keeps planning.
    ("ExitPlanMode", ["AskUserQuestion", "ExitPlanMode", "ExitPlanMode"], "Nothing was changed."),
)


async def test_the_health_endpoint_story_asks_in_every_way_ends_well_and_lives_with_refusals(tmp_path: Path) -> None:
    async with (
        ScriptedModel({"again": again_and_again}, stretch=0) as model,
        talk_with_claude(model.url("again"), tmp_path) as talk,
    ):
        frames = talk.frames()
        asked, ended = await play(talk, frames, tmp_path)
        assert asked == ["AskUserQuestion", "ExitPlanMode", "Write", "Write", "Bash"]
        assert ended == "The service answers at `/healthz`, and all tests pass."
        assert "/healthz" in (tmp_path / "service.py").read_text()

        for refused, wanted, ending in REFUSALS:
            asked, ended = await play(talk, frames, tmp_path, refuse=refused)
            assert asked == wanted, refused
            assert ending in ended, refused
        talk.hang_up()
    assert model.errors == []


@pytest.mark.parametrize("checks", [[], [UPTIME], [UPTIME, FREE_DISK]])
def test_the_toy_service_and_its_tests_work(tmp_path: Path, checks: list[str]) -> None:
    files: dict[str, Any] = {
        **SERVICE_FILES,
        "service.py": service_with_health("/health", checks),
        "test_health.py": health_test("/health"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    subprocess.run([sys.executable, "-m", "unittest"], cwd=tmp_path, check=True, capture_output=True)


def test_a_choice_is_read_from_what_claude_reports() -> None:
    report = f'Your questions have been answered: "{WHERE}"="/healthz", "{WHAT}"="Uptime, Free disk space". You can…'
    contents = Conversation.read(request(assistant(tool_use("q")), user(tool_result("q", report))))

    assert choice(contents, WHERE) == "/healthz"
    assert choice(contents, WHAT) == "Uptime, Free disk space"
    assert choice(contents, "Never asked?") == ""
