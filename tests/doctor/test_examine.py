"""The whole examination with a made-up home, and its report as text and JSON."""

from pathlib import Path

from msgspec import json

from handraise import texts
from handraise.config.reading import Effective, ValueSource
from handraise.doctor.checks import Finding
from handraise.doctor.examine import Report, as_json, as_text, examine
from handraise.model.projects import Options, Patience, Project

NAMES = [
    "settings",
    "claude",
    "login",
    "sandbox",
    "hub",
    "hooks",
    "port",
    "tls",
    "state",
    "disk",
    "database",
    "pipes",
    "inotify",
]

REPORT = Report(
    (
        Finding("claude", "ok", "Claude Code 2.1.325 at /bin/claude."),
        Finding("login", "warn", "Not signed in.", "Run `claude auth login`."),
    ),
    (
        Effective("web.port", 8420, ValueSource("default")),
        Effective("claude.model", None, ValueSource("environment", "HANDRAISE_CLAUDE_MODEL")),
    ),
)


def an_environment(home: Path, settings: str) -> dict[str, str]:
    program = home / "claude"
    program.write_text("#!/bin/sh\necho '2.1.325 (Claude Code)'\n")
    program.chmod(0o755)
    file = home / "handraise.toml"
    file.write_text(settings)
    file.chmod(0o600)
    return {
        "HANDRAISE_CONFIG": str(file),
        "HANDRAISE_STATE": str(home / "state"),
        "HANDRAISE_CLAUDE_PATH": str(program),
    }


async def test_every_finding_is_in_the_language_of_the_settings(tmp_path: Path) -> None:
    with texts.using("en"):
        report = await examine(an_environment(tmp_path, 'language = "en-XA"'), tmp_path)

    assert [each.name for each in report.findings if not each.sentence.startswith("⟦")] == []


async def test_everything_is_looked_at_and_every_setting_shown(tmp_path: Path) -> None:
    report = await examine(an_environment(tmp_path, "[web]\nport = 0"), tmp_path)

    assert [each.name for each in report.findings] == NAMES
    assert [each.name for each in report.findings if each.verdict == "fail"] == []
    values = {each.key: (each.value, each.source.kind) for each in report.settings}
    assert values["web.port"] == (0, "file")
    assert values["claude.path"] == (str(tmp_path / "claude"), "environment")
    assert values["web.host"] == ("127.0.0.1", "default")
    assert not (tmp_path / "state").exists()


async def test_settings_that_are_refused_are_told_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    report = await examine(an_environment(tmp_path, "[web]\nprot = 0"), tmp_path)

    settings, *rest = report.findings
    assert (settings.name, settings.verdict) == ("settings", "fail")
    assert "Did you mean web.port?" in settings.sentence
    assert [each.name for each in rest] == NAMES[1:]


async def test_a_projects_own_settings_are_shown_with_their_file(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    (project / ".handraise.toml").write_text("model = 'haiku'")
    (project / ".handraise.toml").chmod(0o644)

    report = await examine(an_environment(tmp_path, "[web]\nport = 0"), tmp_path, project=project)

    (model,) = [each for each in report.settings if each.key == "claude.model"]
    assert (model.value, model.source.kind, model.source.name) == (
        "haiku",
        "project file",
        str(project / ".handraise.toml"),
    )


async def test_what_was_set_for_a_project_lies_over_everything_and_names_it(tmp_path: Path) -> None:
    (tmp_path / ".handraise.toml").write_text("model = 'haiku'\nask_user_timeout = 60")
    options = Options(model="opus", ask_user_enabled=False, patience=Patience(plan=30), allowed_tools=("Read",))
    known = Project("p_1", "shop", str(tmp_path), options)
    environ = {**an_environment(tmp_path, "[web]\nport = 0"), "HANDRAISE_CLAUDE_MODEL": "sonnet"}

    report = await examine(environ, tmp_path, project=tmp_path / "below", known=known)

    values = {each.key: (each.value, each.source.kind) for each in report.settings}
    assert values["claude.model"] == ("opus", "project")
    assert values["claude.allowed_tools"] == (("Read",), "project")
    assert values["ask.ask_user_enabled"] == (False, "project")
    assert values["ask.patience.plan"] == (30.0, "project")
    assert values["ask.ask_user_timeout"] == (60, "project file")
    assert values["ask.patience.question"] == ("never", "default")
    assert {each.source.name for each in report.settings if each.source.kind == "project"} == {"shop"}


async def test_another_state_folder_can_be_named(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(mode=0o755)

    report = await examine(an_environment(tmp_path, ""), tmp_path, state=other)

    (state,) = [each for each in report.findings if each.name == "state"]
    assert state.verdict == "fail"
    assert str(other) in state.sentence


def test_a_person_reads_a_line_for_each_finding_with_the_next_step_under_it() -> None:
    assert as_text(REPORT).splitlines() == [
        "ok    claude  Claude Code 2.1.325 at /bin/claude.",
        "warn  login   Not signed in.",
        "              → Run `claude auth login`.",
        "",
        "web.port = 8420           default",
        "claude.model = (not set)  environment HANDRAISE_CLAUDE_MODEL",
    ]


def test_a_program_reads_the_same_as_json() -> None:
    assert json.decode(json.encode(as_json(REPORT))) == {
        "verdict": "warn",
        "findings": [
            {"name": "claude", "verdict": "ok", "sentence": "Claude Code 2.1.325 at /bin/claude.", "advice": ""},
            {
                "name": "login",
                "verdict": "warn",
                "sentence": "Not signed in.",
                "advice": "Run `claude auth login`.",
            },
        ],
        "settings": [
            {"key": "web.port", "value": 8420, "source": {"kind": "default", "name": ""}},
            {
                "key": "claude.model",
                "value": None,
                "source": {"kind": "environment", "name": "HANDRAISE_CLAUDE_MODEL"},
            },
        ],
    }


def test_a_report_is_as_good_as_its_worst_finding() -> None:
    assert Report(()).verdict == "ok"
    assert Report((*REPORT.findings, Finding("port", "fail", "It is in use."))).verdict == "fail"
