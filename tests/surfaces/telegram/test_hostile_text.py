"""Whatever Claude writes: it takes little time to show, and nothing in it is hidden."""

import time

import pytest

from handraise.surfaces.telegram.final import final_answer, mentioned_files
from handraise.surfaces.telegram.markdown import from_markdown
from handraise.surfaces.telegram.progress import TurnOver
from surfaces.telegram.session_bed import turn_ended

SIZE, FEWER = 200_000, 12_000
"""Far beyond what is shown; and what is read to the end, with every beginning."""
HOSTILE = {
    "fences": "```a\n",
    "fences with tildes": "~~~\n```\n",
    "brackets": "[",
    "images": "![",
    "blanks": " ",
    "stars": "*a ",
    "backquotes": "`",
    "bold": "**a** ",
    "links": "[a](b) ",
    "lists": "- a\n",
    "table": "|a|b|\n",
    "angles": "<",
    "quotes": ">",
    "flags": "\U0001f1e6",
    "accents": "a\u0301",
    "joiners": "\u200d",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    ("before", "size", "seconds"),
    [("", SIZE, 20), *((each, FEWER, 2) for each in ("[](", "[x](https://a.org ", "|a|b|\n|-|-|\n"))],
)
def test_an_answer_takes_little_time_whatever_it_says(name: str, before: str, size: int, seconds: float) -> None:
    piece = HOSTILE[name]
    text = before + piece * (size // len(piece))
    start = time.process_time()
    final_answer(TurnOver(1, turn_ended(text), text), "Fix it")
    assert time.process_time() - start < seconds, "it took minutes before"


@pytest.mark.parametrize("label", ["a" * 20_000, "a" + ".a" * 10_000, "-." * 10_000])
def test_a_long_label_shows_where_its_link_leads(label: str) -> None:
    start = time.process_time()
    shown = from_markdown(f"[{label}](https://evil.example.org)").text
    assert shown.endswith("(evil.example.org)")
    assert time.process_time() - start < 5, "it took 20 s before"


def test_links_are_read_as_people_write_them() -> None:
    text = '[a](one.png) ![b](<two dots.png> "A title") [c]( three.pdf ) [d](four.png "x") [e](https://x.org/f.png)'
    assert mentioned_files(text) == ("one.png", "two dots.png", "three.pdf", "four.png")


def test_of_a_huge_answer_the_file_has_everything() -> None:
    text = "word " * 100_000
    answer = final_answer(TurnOver(1, turn_ended(text), text), "Fix it")
    assert len(answer.parts) == 1
    assert [each.data for each in answer.files] == [text.encode()]
