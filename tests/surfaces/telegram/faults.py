"""Faults on demand: calls that fail, hang or break off."""

from dataclasses import dataclass, field
from typing import Literal

from surfaces.telegram.rules import RuleBroken

Fault = Literal["works", "500", "502", "silent", "silent-after", "drop", "drop-after"]
"""`works` lets a call pass, so that the fault after it meets the next one. `silent` never answers, `drop` breaks the
connection: before the call took effect, or after it did."""
ANY = "*"


@dataclass
class PlannedFault:
    method: str
    fault: Fault | RuleBroken
    times: int


@dataclass
class Faults:
    """What goes wrong next, in order."""

    planned: list[PlannedFault] = field(default_factory=list)

    def plan(self, method: str, fault: Fault | RuleBroken, times: int) -> None:
        self.planned.append(PlannedFault(method.lower(), fault, times))

    def next(self, method: str) -> Fault | RuleBroken | None:
        """What goes wrong with this call."""
        for each in self.planned:
            if each.times and each.method in {method.lower(), ANY}:
                each.times -= 1
                return each.fault
        return None

    def clear(self) -> None:
        self.planned.clear()
