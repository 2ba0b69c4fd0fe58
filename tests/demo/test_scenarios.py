import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo.real_claude import Frame, Talk, talk_with_claude
from demo.requests import assistant, request, tool_result, tool_use, user
from handraise.demo import ScriptedModel, Told
from handraise.demo.scenarios import SCENARIOS, WHAT, WHERE, choice
from handraise.demo.toy import FILES, FREE_DISK, UPTIME, health_test, service_with_health


async def play(home: Path, *, refuse: str = "") -> tuple[list[str], str]:
    """Plays the story with a person who allows all but the tool `refuse`: what was asked, and how it ended."""
    asked: list[str] = []
    for name, text in FILES.items():
        (home / name).write_text(text)
    ended = ""
    async with (
        ScriptedModel(SCENARIOS, stretch=0) as model,
        talk_with_claude(model.url("health_endpoint"), home) as talk,
    ):
        talk.say("Add a health endpoint, please.")
        async for frame in talk.frames():
            if frame["type"] == "control_request":
                asked.append(frame["request"]["tool_name"])
                _answer(talk, frame, refuse)
            elif frame["type"] == "result":
                ended = frame["result"]
                talk.hang_up()
    assert model.errors == []
    return asked, ended


def _answer(talk: Talk, ask: Frame, refuse: str) -> None:
    tool = ask["request"]["tool_name"]
    if tool == refuse:
        talk.deny(ask, "Rather not.")
    elif tool == "AskUserQuestion":
        talk.allow(ask, answers={WHERE: "/healthz", WHAT: f"{UPTIME}, {FREE_DISK}"})
    else:
        talk.allow(ask)


async def test_the_health_endpoint_story_asks_in_every_way_and_ends_well(tmp_path: Path) -> None:
    asked, ended = await play(tmp_path)

    assert asked == ["AskUserQuestion", "ExitPlanMode", "Write", "Write", "Bash"]
    assert ended == "The service answers at `/healthz`, and all tests pass."
    assert "/healthz" in (tmp_path / "service.py").read_text()


@pytest.mark.parametrize(
    ("refused", "asked", "ending"),
    [
        ("AskUserQuestion", ["AskUserQuestion", "ExitPlanMode", "Write", "Write", "Bash"], "`/health`"),
        ("ExitPlanMode", ["AskUserQuestion", "ExitPlanMode", "ExitPlanMode"], "Nothing was changed."),
        ("Write", ["AskUserQuestion", "ExitPlanMode", "Write", "Write"], "half a change"),
        ("Bash", ["AskUserQuestion", "ExitPlanMode", "Write", "Write", "Bash"], "were not run"),
    ],
)
async def test_the_story_lives_with_a_refusal(tmp_path: Path, refused: str, asked: list[str], ending: str) -> None:
    seen, ended = await play(tmp_path, refuse=refused)

    assert seen == asked
    assert ending in ended


@pytest.mark.parametrize("checks", [[], [UPTIME], [UPTIME, FREE_DISK]])
def test_the_toy_service_and_its_tests_work(tmp_path: Path, checks: list[str]) -> None:
    files: dict[str, Any] = {
        **FILES,
        "service.py": service_with_health("/health", checks),
        "test_health.py": health_test("/health"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    subprocess.run([sys.executable, "-m", "unittest"], cwd=tmp_path, check=True, capture_output=True)


def test_a_choice_is_read_from_what_claude_reports() -> None:
    report = f'Your questions have been answered: "{WHERE}"="/healthz", "{WHAT}"="Uptime, Free disk space". You can…'
    told = Told.read(request(assistant(tool_use("q")), user(tool_result("q", report))))

    assert choice(told, WHERE) == "/healthz"
    assert choice(told, WHAT) == "Uptime, Free disk space"
    assert choice(told, "Never asked?") == ""
