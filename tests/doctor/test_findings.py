"""How a report is told."""

from msgspec import json

from handraise.config.reading import Effective, ValueSource
from handraise.doctor.findings import Finding, Report, as_json, as_text

REPORT = Report(
    (
        Finding("claude", "ok", "Claude Code 2.1.325 is at /bin/claude."),
        Finding("login", "warn", "There is no login.", "Run `claude` once and log in."),
    ),
    (
        Effective("web.port", 8420, ValueSource("default")),
        Effective("claude.model", None, ValueSource("environment", "HANDRAISE_CLAUDE_MODEL")),
    ),
)


def test_a_person_reads_a_line_for_each_finding_with_the_next_step_under_it() -> None:
    assert as_text(REPORT).splitlines() == [
        "ok    claude  Claude Code 2.1.325 is at /bin/claude.",
        "warn  login   There is no login.",
        "              → Run `claude` once and log in.",
        "",
        "web.port = 8420           default",
        "claude.model = (not set)  environment HANDRAISE_CLAUDE_MODEL",
    ]


def test_a_program_reads_the_same_as_json() -> None:
    assert json.decode(json.encode(as_json(REPORT))) == {
        "verdict": "warn",
        "findings": [
            {"name": "claude", "verdict": "ok", "sentence": "Claude Code 2.1.325 is at /bin/claude.", "advice": ""},
            {
                "name": "login",
                "verdict": "warn",
                "sentence": "There is no login.",
                "advice": "Run `claude` once and log in.",
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
    assert Report((*REPORT.findings, Finding("port", "fail", "It is taken."))).verdict == "fail"
