"""Globs have their usual meaning, and no text makes them slow."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handraise.policy.patterns import PathGlob, read_name
from policy.fuzzing import examples, fuzzed
from policy.steps import steps

LONG = "/".join(["aaaaaaaa"] * 400)


@fuzzed
@settings(max_examples=examples(200), deadline=None)
@given(pattern=st.text("ab*", max_size=12), text=st.text("ab", max_size=14))
def test_a_name_fits_as_a_regular_expression_would_say(pattern: str, text: str) -> None:
    expression = ".*".join(re.escape(each) for each in pattern.split("*"))

    assert read_name(pattern).fits(text) is bool(re.fullmatch(expression, text, re.DOTALL))


PIECES = st.lists(st.sampled_from(["a", "b", "/", "*", "?", "/**", "/**/", "**", "/*", "\n", "."]), max_size=9)


@fuzzed
@settings(max_examples=examples(300), deadline=None)
@given(glob=PIECES.map("".join), path=st.text("ab/.\n", max_size=12))
def test_a_path_fits_as_a_regular_expression_would_say(glob: str, path: str) -> None:
    assert PathGlob(f"/{glob}").fits(f"/{path}") is bool(re.fullmatch(_expression(f"/{glob}"), f"/{path}", re.DOTALL))


def _expression(glob: str) -> str:
    """The plain reading, which goes back and tries again where it must."""
    expression = ""
    for piece in re.split(r"(/\*\*(?=/|\Z)|\*+|\?)", glob):
        match piece:
            case "/**":
                expression += "(?:/.*)?"
            case "?":
                expression += "[^/]"
            case _ if piece.startswith("*"):
                expression += "[^/]*"
            case _:
                expression += re.escape(piece)
    return expression


@pytest.mark.parametrize(
    "glob",
    ["/**" * 8 + "/z", "/**/*a" * 8 + "/z", "/**/a*" * 20 + "z", "/" + "*a" * 60 + "z", "/**/" + "a/**/" * 30 + "z"]
)  # fmt: skip
def test_no_path_glob_takes_more_than_a_few_steps_for_each_letter(glob: str) -> None:
    path = f"/{LONG}/z/{LONG}"

    assert not PathGlob(glob).fits(f"{path}y")
    assert steps(lambda: PathGlob(glob).fits(f"{path}z/y")) < 20 * (len(path) + len(glob))


def test_no_name_takes_more_than_a_few_steps_for_each_star() -> None:
    glob = read_name("*a" * 60 + "*z")

    assert not glob.fits("a" * 10_000)
    assert steps(lambda: glob.fits("a" * 10_000 + "yz")) < 10 * 60
