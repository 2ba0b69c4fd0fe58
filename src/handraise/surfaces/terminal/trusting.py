"""Trust in a directory at the terminal: the matter, and everything the directory brings, whole. Pure."""

from collections.abc import Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from handraise.model.answers import Answer, Misfit, Trusting
from handraise.model.keys import key_of
from handraise.model.trust import Trust, TrustLevel, in_words, kind_in_words
from handraise.surfaces.terminal.dialogue import Step, StepInput, keyed
from handraise.surfaces.terminal.harmless import one_line
from handraise.surfaces.terminal.lines import EMPTY, Line, line, wrap

WITHOUT = "Run without them"
EXACTLY = "Trust these exactly as they are"
NEVER = "Never use them, and do not ask again here"


class TrustFlow(Struct, frozen=True):
    """Run without them, trust them, or never. What cannot be shown whole cannot be trusted."""

    body: Trust

    def steps(self, _given: Mapping[str, StepInput]) -> tuple[Step, ...]:
        trust = () if self.body.unreadable else (replace(keyed(key_of("trust", "exactly"), EXACTLY), danger=True),)
        refuse = (keyed(key_of("trust", "without"), WITHOUT), keyed(key_of("trust", "never"), NEVER))
        return (Step("decide", sentence(self.body), "Trust", (*trust, *refuse), first="without"),)

    def editable(self, _given: Mapping[str, StepInput]) -> tuple[str, str]:
        raise Misfit("This cannot be edited.")

    def check(self, _step: Step, _given: StepInput) -> None:
        """Every row is an answer."""

    def answer(self, given: Mapping[str, StepInput]) -> Answer:
        return Trusting(cast(TrustLevel, given["decide"].rows[0]))


def sentence(body: Trust) -> str:
    """What is asked, on one line."""
    return f"Use what {one_line(body.directory)} brings? {in_words(body.brought)}."


def proof(body: Trust, verbatim: "Mapping[str, tuple[Line, ...]]", width: int) -> list[Line]:
    """Everything, each under its name; `verbatim` holds the lines of each text."""
    rows: list[Line] = []
    for told in body.unreadable:
        rows += wrap(line(("class:warning", f"Cannot be trusted: {one_line(told)}")), width)
    for each in body.brought:
        name = f"{kind_in_words(each.kind)} {one_line(each.name)}"
        rows += wrap(line(("bold", name), ("class:dim", f" in {one_line(each.path)}")), width)
        rows += verbatim[each.text]
        rows.append(EMPTY)
    note = "Claude Code would use these without asking. Trust ends when any of these files changes."
    return [*rows, *wrap(line(("class:dim", note)), width)]
