"""Times for people: short, right, and as each language writes them."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from handraise import texts
from handraise.texts import Catalogue

NOW = datetime(2026, 11, 17, 14, 5, tzinfo=UTC)


@pytest.fixture
def german(tmp_path: Path) -> Iterator[None]:
    for language in ("en", "de"):
        (tmp_path / language).mkdir()
        (tmp_path / language / "card.json").write_text(json.dumps({"a": "b"}))
    with texts.using(Catalogue("de", tmp_path)):
        yield


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (260_000, "3 d")],
)
def test_a_length_of_time_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert texts.span(timedelta(seconds=seconds)) == text


def test_a_moment_has_its_day_where_that_is_not_today_and_its_year_where_that_is_not_this_one() -> None:
    assert texts.moment(NOW, NOW) == "14:05"
    assert texts.moment(datetime(2026, 3, 3, 9, 0, tzinfo=UTC), NOW) == "Mar 3, 09:00"
    assert texts.moment(datetime(2025, 3, 3, 9, 0, tzinfo=UTC), NOW) == "Mar 3, 2025, 09:00"


@pytest.mark.usefixtures("german")
def test_another_language_has_its_own_units_and_dates() -> None:
    assert texts.span(timedelta(seconds=3)) == "3 Sek."
    assert texts.span(timedelta(hours=5)) == "5 Std."
    assert texts.clock(NOW) == "14:05"
    assert texts.day(NOW, NOW) == "17. Nov."
    assert texts.day(datetime(2025, 3, 3, tzinfo=UTC), NOW) == "3. März 2025"


def test_the_pseudo_locale_has_accents_in_its_times() -> None:
    with texts.using("en-XA"):
        assert texts.span(timedelta(minutes=3)) == "3 ɱíñ"
        assert texts.day(NOW, NOW) == "Ñóṽ 17"
        assert texts.clock(NOW) == "14:05"


def test_english_does_not_load_babel() -> None:
    import subprocess
    import sys

    code = (
        "from handraise import texts; texts.t('card.counted.hook', count=2); import sys; print('babel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
