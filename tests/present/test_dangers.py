"""Dangers in words: the same sentences on the card, in a terminal, in Telegram and in a notification."""

from typing import get_args

import pytest
from msgspec.structs import replace

from handraise.model.asks import Permission
from handraise.model.dangers import Danger, DangerKind
from handraise.present.cards import card_of
from handraise.present.dangers import dangers_in_words
from handraise.surfaces.push import notices
from handraise.surfaces.push.notices import NoticeContext
from handraise.surfaces.telegram.layout import shown_evidence
from handraise.surfaces.terminal.cards import evidence_rows
from handraise.surfaces.terminal.lines import text_of
from handraise.surfaces.terminal.unattended import lines_of_ask
from present.asked import HERE, ask_of, bash

SENTENCE = "Overwrites or deletes history on the remote: `git push -f`"


def dangerous(kind: DangerKind = "force_push", what: str = "git push -f") -> Permission:
    return replace(bash(what), dangers=(Danger(kind, what),))


@pytest.mark.parametrize("kind", get_args(DangerKind))
def test_every_kind_has_a_sentence(kind: DangerKind) -> None:
    assert "`rm x`" in dangers_in_words(dangerous(kind, "rm x"))[0]


def test_a_card_shows_them_first_and_is_of_high_risk() -> None:
    card = card_of(ask_of(dangerous()), HERE)

    assert (card.evidence[0].kind, card.evidence[0].text) == ("danger", SENTENCE)
    assert card.dangers == (SENTENCE,)
    assert (card.risk.level, card.risk.reason) == ("high", "Dangerous")


def test_what_can_be_answered_stays_the_same() -> None:
    assert card_of(ask_of(dangerous()), HERE).choices == card_of(ask_of(bash("git push -f")), HERE).choices


def test_a_look_alike_names_its_letters() -> None:
    body = Permission("Write", {"file_path": "/work/sеrvice.py"}, dangers=(Danger("lookalike", "/work/sеrvice.py"),))

    assert dangers_in_words(body) == ("Look-alike letters in `/work/sеrvice.py`: `е` (U+0435) looks like `e`",)


def test_hostile_words_can_not_leave_their_quotes() -> None:
    assert dangers_in_words(dangerous(what="rm \u202e ` x\n`"))[0].endswith("`rm ⟨U+202E⟩ ˋ x ˋ`")


def test_a_terminal_says_the_same() -> None:
    card = card_of(ask_of(dangerous()), HERE)

    assert [text_of(row) for row in evidence_rows(card.evidence[0], 100)] == [f"⚠ {SENTENCE}"]
    assert lines_of_ask(ask_of(dangerous()))[1] == f"    ⚠ {SENTENCE}"


def test_telegram_says_the_same() -> None:
    card = card_of(ask_of(dangerous()), HERE)

    assert shown_evidence(card.evidence[0]).text == f"⚠️ {SENTENCE}".replace("`", "")


def test_a_notification_says_the_same_and_only_offers_to_deny() -> None:
    notice = notices.of_ask(ask_of(dangerous()), NoticeContext("Fix", HERE), "d_1", 1, may_answer=True)

    assert notice.body.startswith(f"⚠ {SENTENCE}".replace("`", ""))
    assert [each.name for each in notice.answers] == ["no"]
