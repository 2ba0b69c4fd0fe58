"""What the doctor found, and how it is told: to a person, or as JSON. Pure."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from handraise.config.reading import Effective

Verdict = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True):
    """One thing that was looked at. `advice` is the next step; what is well needs none."""

    name: str
    verdict: Verdict
    sentence: str
    advice: str = ""


class Report(Struct, frozen=True):
    """Everything that was found, and every setting with where it comes from."""

    findings: tuple[Finding, ...]
    settings: tuple[Effective, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        found = {each.verdict for each in self.findings}
        return "fail" if "fail" in found else "warn" if "warn" in found else "ok"


def as_json(report: Report) -> dict[str, Any]:
    """The whole report, for programs."""
    built: dict[str, Any] = msgspec.to_builtins(report)
    return {"verdict": report.verdict, **built}


def as_text(report: Report) -> str:
    """The whole report, for people."""
    return "\n".join([*_finding_lines(report.findings), "", *_setting_lines(report.settings)]).rstrip()


def _finding_lines(findings: tuple[Finding, ...]) -> list[str]:
    width = max((len(each.name) for each in findings), default=0)
    lines = []
    for each in findings:
        lines.append(f"{each.verdict:<4}  {each.name:<{width}}  {each.sentence}")
        if each.advice:
            lines.append(f"{'':<4}  {'':<{width}}  → {each.advice}")
    return lines


def _setting_lines(settings: tuple[Effective, ...]) -> list[str]:
    spelled = [(f"{each.key} = {_value(each.value)}", _source(each)) for each in settings]
    width = max((len(left) for left, _ in spelled), default=0)
    return [f"{left:<{width}}  {right}" for left, right in spelled]


def _value(value: object) -> str:
    return "(not set)" if value is None else msgspec.json.encode(value).decode()


def _source(each: Effective) -> str:
    return f"{each.source.kind} {each.source.name}".rstrip()
