"""The suite leaves nothing out: every choice of every kind of card has a case."""

import pytest

from handraise.hub.hub import now
from handraise.model.answers import Answer
from handraise.model.asks import KINDS, Ask, Origin, kind_of
from handraise.model.fit import check
from handraise.model.keys import TABLE
from handraise.present.cards import card_of
from surfaces.suite.cases import CASES, AnswerCase
from surfaces.suite.page import PageSurface
from surfaces.suite.push import PushSurface
from surfaces.suite.surface import Surface
from surfaces.suite.telegram import TelegramSurface
from surfaces.suite.terminal import TerminalSurface

SURFACES: tuple[type[Surface], ...] = (PageSurface, TerminalSurface, PushSurface, TelegramSurface)


def test_every_choice_of_every_kind_has_a_case() -> None:
    acts = {(kind_of(case.body), case.gesture.act) for case in CASES}
    table = {(key.on, key.act) for key in TABLE if key.on != "any"} | {("question", "option")}
    assert acts == table
    assert {kind for kind, _ in acts} == set(KINDS)
    asks = [Ask("a", None, None, case.body, "", Origin("a"), now()) for case in CASES]
    offered = {(ask.kind, choice.act) for ask in asks for choice in card_of(ask, None).choices}
    assert offered == acts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_is_an_answer_that_fits(case: AnswerCase) -> None:
    answer: Answer = case.answer
    check(case.body, answer)


@pytest.mark.parametrize("surface", SURFACES)
def test_the_tables_of_a_surface_name_cases(surface: type[Surface]) -> None:
    names = {case.name for case in CASES}
    assert len(names) == len(CASES)
    assert {*surface.absent, *surface.differs} <= names
    assert not {*surface.absent} & {*surface.differs}
