"""The flow of trust in a directory: run without what it brings, trust it, or never use it. Pure."""

from collections.abc import Mapping
from typing import cast

from msgspec import Struct

from handraise.model.answers import Answer, Misfit, Trusting
from handraise.model.trust import TrustLevel
from handraise.present.cards import Card
from handraise.surfaces.terminal.dialogue import Step, StepInput, row_of
from handraise.surfaces.terminal.harmless import evidence
from handraise.texts import t


class TrustFlow(Struct, frozen=True):
    """One step. The row that is pointed at first changes nothing."""

    card: Card

    def steps(self, _inputs: Mapping[str, StepInput]) -> tuple[Step, ...]:
        rows = tuple(row_of(choice) for choice in self.card.choices)
        return (Step("decide", evidence(self.card.headline), t("card.kind.trust"), rows, first="without"),)

    def editable(self, _inputs: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit(t("terminal.edit.trust"))

    def check(self, _step: Step, _entered: StepInput) -> None:
        """Every row is an answer."""

    def answer(self, inputs: Mapping[str, StepInput]) -> Answer:
        return Trusting(cast(TrustLevel, inputs["decide"].rows[0]))
