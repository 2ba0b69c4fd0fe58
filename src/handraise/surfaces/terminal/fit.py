"""How the rows of a terminal are divided among the parts of a card. Pure.

The selected row and the question come first. A card never takes more rows than there are.
"""

from collections.abc import Sequence

from msgspec import Struct

from handraise.surfaces.terminal.lines import EMPTY, Line, cut, line
from handraise.texts import t

_SOME = 3
"""How many rows of the evidence are shown before anything else gets more."""


class Fit(Struct, frozen=True):
    """How much of a card is on the screen, out of `total` rows of question and evidence."""

    first: int = 0
    last: int = 0
    total: int = 0
    width: int = 0
    tiny: bool = False
    """There isn't even room for the question and one choice."""

    @property
    def hidden(self) -> int:
        return self.total - (self.last - self.first)

    @property
    def whole(self) -> bool:
        return not self.tiny and not self.hidden


class Parts(Struct, frozen=True):
    """The parts of a card. `story`: the question and its evidence. `pointed`: the choice that Enter would take."""

    head: Sequence[Line]
    story: Sequence[Line]
    choices: Sequence[Sequence[Line]]
    pointed: int
    foot: Sequence[Line]


def arrange(parts: Parts, height: int, width: int) -> tuple[list[Line], list[Line], Fit]:
    """The card above and below the input line, and how much of it is shown."""
    head, story, foot = list(parts.head), list(parts.story), list(parts.foot)
    rows = sum(len(each) for each in parts.choices)
    pointed = len(parts.choices[parts.pointed]) if parts.choices else 0
    least = (min(len(story), 2), pointed, min(len(foot), 1))
    total = len(story)
    if sum(least) > height:
        tiny = [line(("class:warning", t("terminal.card.larger")))]
        return [cut(each, width) for each in tiny][: max(height, 1)], [], Fit(total=total, width=width, tiny=True)
    left = height - sum(least)
    wanted = (
        ("story", min(total, _SOME + 1) - least[0]),
        ("choices", 1 if rows > pointed else 0),
        ("foot", len(foot) - least[2]),
        ("choices", rows - pointed - (1 if rows > pointed else 0)),
        ("head", len(head)),
        ("story", total - min(total, _SOME + 1)),
    )
    rows_of = {"story": least[0], "choices": pointed, "foot": least[2], "head": 0}
    for name, more in wanted:
        # A header of two rows is shown completely or not at all.
        added = more if more <= left else 0 if name == "head" else max(left, 0)
        rows_of[name] += added
        left -= added
    air = min(left, 2)
    body = _folded(story, rows_of["story"])
    shown = total if rows_of["story"] >= total else rows_of["story"] - 1
    below = foot[: rows_of["foot"]]
    above = [
        *head[: rows_of["head"]],
        *body,
        *([EMPTY] if rows and air > 0 else []),
        *_around(parts.choices, parts.pointed, rows_of["choices"]),
    ]
    return above, [*([EMPTY] if below and air > 1 else []), *below], Fit(0, shown, total, width)


def _folded(story: Sequence[Line], room: int) -> list[Line]:
    if len(story) <= room:
        return [*story]
    left = len(story) - (room - 1)
    more = t("terminal.card.folded", hidden=left, count=len(story))
    return [*story[: room - 1], line(("class:warning", more))]


def _around(choices: Sequence[Sequence[Line]], pointed: int, room: int) -> list[Line]:
    """A low terminal can't show all choices: shows those around the selected one, each completely."""
    rows = sum(len(each) for each in choices)
    if rows <= room:
        return [row for each in choices for row in each]
    near = {pointed}
    used = len(choices[pointed])
    nearest = sorted(range(len(choices)), key=lambda at: (abs(at - pointed), at))
    for at in nearest[1:]:
        if used + len(choices[at]) > room - 1:
            break
        near.add(at)
        used += len(choices[at])
    shown = [row for at in sorted(near) for row in choices[at]]
    rest = len(choices) - len(near)
    more = line(("class:warning", t("terminal.card.more_choices", count=rest)))
    return [*shown, *([more] if used < room else [])]
