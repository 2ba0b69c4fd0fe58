"""The final answer of a turn as messages and files."""

from typing import Any

import pytest

from handraise.model.items import Notice, SessionEnded, TurnEnded
from handraise.surfaces.telegram.final import LONGEST_CODE, FinalAnswer, final_answer, mentioned_files
from handraise.surfaces.telegram.formatted import LONGEST
from handraise.surfaces.telegram.progress import Alert, SessionOver, TurnOver


def over(text: str, **fields: Any) -> TurnOver:
    values: dict[str, Any] = {"is_error": False, "error": None, "result": text, "duration_ms": 4200, **fields}
    return TurnOver(1, TurnEnded(turn=1, cost_usd=0.0123, usage={}, **values), text)


def texts(answer: FinalAnswer) -> list[str]:
    return [part.text for part in answer.parts]


def test_an_answer_has_its_title_time_and_cost() -> None:
    assert texts(final_answer(over("All **green**."), "Fix it")) == ["All green.\n\nFix it · 4.2 s · $0.0123"]
    assert texts(final_answer(over("Done.", duration_ms=754_000), "Fix it")) == ["Done.\n\nFix it · 12 min · $0.0123"]


def test_an_empty_answer_is_time_and_cost_alone() -> None:
    assert texts(final_answer(over("  "), "Fix it")) == ["Fix it · 4.2 s · $0.0123"]


def test_an_error_is_shown_verbatim_and_on_one_line() -> None:
    answer = final_answer(over("", is_error=True, error="API Error: 529\noverloaded\u202e"), "Fix it")
    assert texts(answer) == ["✗ API Error: 529 overloaded⟨U+202E⟩\n\nFix it · 4.2 s · $0.0123"]
    assert texts(final_answer(over("", is_error=True), "T"))[0].startswith("✗ The turn failed without a reason.")


def test_an_interrupted_turn_is_no_error_and_makes_no_sound() -> None:
    answer = final_answer(over("half", is_error=True, interrupted=True), "Fix it")
    assert texts(answer) == ["The turn was interrupted.\n\nFix it · 4.2 s · $0.0123"]
    assert answer.silent


def test_a_long_answer_comes_in_several_parts_with_the_cost_at_the_end() -> None:
    paragraphs = [f"Paragraph {at}. {'x' * 900}" for at in range(10)]
    answer = final_answer(over("\n\n".join(paragraphs)), "Fix it")
    assert 1 < len(answer.parts) <= 4
    assert all(part.units <= LONGEST for part in answer.parts)
    assert answer.parts[-1].text.endswith("Fix it · 4.2 s · $0.0123")
    assert all(paragraph in "\n".join(texts(answer)) for paragraph in paragraphs)
    assert answer.files == ()


def test_a_very_long_answer_continues_in_a_file() -> None:
    text = "\n\n".join(f"Paragraph {at}. {'🚀' * 900}" for at in range(20))
    answer = final_answer(over(text), "Fix it")
    assert len(answer.parts) == 1
    assert answer.parts[0].units <= LONGEST
    assert answer.parts[0].text.startswith("Paragraph 0.")
    assert answer.parts[0].text.endswith("answer.md.\n\nFix it · 4.2 s · $0.0123")
    assert [(file.name, file.data.decode()) for file in answer.files] == [("answer.md", text)]


def test_long_code_is_a_file_and_short_code_stays() -> None:
    code = "\n".join(f"line_{at} = {at}" for at in range(LONGEST_CODE // 8))
    answer = final_answer(over(f"Here:\n\n```python\n{code}\n```\n\nand\n\n```sh\nls\n```"), "Fix it")
    assert texts(answer)[0].startswith("Here:\n\n📎 code-1.py\n\nand\n\nls")
    assert [(file.name, file.data.decode()) for file in answer.files] == [("code-1.py", f"{code}\n")]


@pytest.mark.parametrize(
    ("language", "name"), [("", "code-1.txt"), ("../x", "code-1.txt"), ("Rust", "code-1.rs"), ("toml", "code-1.toml")]
)
def test_the_name_of_a_code_file_follows_its_language(language: str, name: str) -> None:
    answer = final_answer(over(f"~~~{language}\n{'x' * 3000}\n~~~"), "T")
    assert [file.name for file in answer.files] == [name]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("![the plot](out/plot.png)", ("out/plot.png",)),
        ("See [the report](report.pdf) and [data](<my data.csv>).", ("report.pdf", "my data.csv")),
        ("I made `chart.PNG` and `a.py`.", ("chart.PNG",)),
        ("[a](file:///work/app/a.png) [b](/work/app/b.jpg#x)", ("/work/app/a.png", "/work/app/b.jpg")),
        ('![x](my%20plot.png "title")', ("my plot.png",)),
        ("![x](./a/../plot.png) and `plot.png`", ("plot.png",)),
        ("![x](https://example.com/x.png) [y](mailto:x.png)", ()),
        ("Changed [main.py](src/main.py:42).", ()),
        (" ".join(f"`{at}.png`" for at in range(9)), ("0.png", "1.png", "2.png", "3.png", "4.png")),
        ("no files", ()),
    ],
)
def test_files_that_an_answer_shows_are_found(text: str, paths: tuple[str, ...]) -> None:
    assert mentioned_files(text) == paths
    assert final_answer(over(text), "T").mentions == paths


def test_the_end_of_a_session_says_how_and_what_to_do() -> None:
    stopped = SessionOver(1, SessionEnded("stopped", "ana stopped it", 0, "ana"), cut_off=False)
    assert texts(final_answer(stopped, "Fix it")) == ["Fix it\nStopped: ana stopped it\nSend /resume to continue."]
    assert final_answer(stopped, "Fix it").silent


def test_a_failure_and_an_alarm_are_heard() -> None:
    lost = SessionOver(1, SessionEnded("lost", "Claude was killed", None), cut_off=True)
    assert not final_answer(lost, "Fix it").silent
    alarm = SessionOver(1, SessionEnded("stopped", "x", None, alarm=True), cut_off=True)
    assert not final_answer(alarm, "Fix it").silent
    assert "🚨 Stopped: x" in texts(final_answer(alarm, "Fix it"))[0]
    notice = Alert(1, Notice("alarm", "Something answered."))
    assert texts(final_answer(notice, "Fix it")) == ["Fix it\n🚨 Something answered."]
