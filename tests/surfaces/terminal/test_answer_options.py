"""The printed ways to answer work: a shell parses them, and `handraise answer` accepts them."""

import shlex
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from cli.parsing import parsed
from handraise.cli.answering import Flags, NoAnswer, answer_in
from handraise.cli.main import main
from handraise.model.answers import Choices
from handraise.model.asks import Body, Form, Offer, Option, Permission, Plan, Prompt, Question
from handraise.surfaces.terminal.answer_options import how_to_answer, offered, shell_word
from surfaces.terminal.asked import ADDRESS, NPM, PLAN, TWO_QUESTIONS, ask

HOSTILE = (
    "A=B",
    "1=Yes",
    "2=No",
    "it's",
    'a "b"',
    "$(id)",
    "`id`",
    "a\nb",
    "\x1b[31m",
    "a\u202eb",
    "-x",
    "",
    "ü",
    "\\x41",
)


def odd(*labels: str) -> Question:
    return Question((Prompt("Q?", "", tuple(Option(label) for label in labels)),))


BODIES: tuple[Body, ...] = (
    TWO_QUESTIONS,
    NPM,
    Permission("Bash", {"command": "ls"}, offers=(Offer("session", "x", ()), Offer("always", "x", ()))),
    PLAN,
    ADDRESS,
    Form("?", "s", {}),
    Question((Prompt("Free?"),)),
    Question((Prompt("Free?"), Prompt("Another?", "", (Option("A=B"), Option("C"))))),
    *(odd(label, "other") for label in HOSTILE if label),
    *(Question((odd(label, "other").questions[0], Prompt("Other?"))) for label in HOSTILE if label),
)


def flags_of(line: str) -> Flags:
    words = shlex.split(line)
    assert words[:3] == ["handraise", "answer", "a_1"]
    given = parsed(words[1:]).params
    return Flags(**{name: value for name, value in given.items() if name not in ("ask", "state", "hub", "as_json")})


@pytest.mark.parametrize("body", BODIES)
def test_every_printed_command_answers_or_is_refused_for_its_placeholder(body: Body) -> None:
    for line in how_to_answer(ask(body)):
        if "$'" in line:
            continue  # read by a real shell below
        if "…" in line:
            with pytest.raises(NoAnswer):
                answer_in(flags_of(line), body)
        else:
            answer_in(flags_of(line), body)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("label", HOSTILE)
def test_a_shell_reads_every_label_back(shell: str, label: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    result = subprocess.run([shell, "-c", f"printf %s {shell_word(label)}"], capture_output=True, check=True)
    assert result.stdout.decode() == label


@pytest.mark.parametrize("label", [each for each in HOSTILE if each])
def test_every_label_is_reached_by_what_is_offered_for_it(label: str) -> None:
    for body, number in ((odd("other", label), 0), (Question((*odd("x").questions, *odd("y", label).questions)), 1)):
        lines = [line.strip() for line in offered(body) if "--choose" in line]
        chosen = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {' '.join([*lines[:-2], lines[-1]] if number else lines[-1:])}"],
            capture_output=True,
            check=True,
        )
        words = chosen.stdout.decode().split("\0")[1:-1:2]
        given = answer_in(Flags(choose=words), body)
        assert isinstance(given, Choices)
        assert given.answers[number].labels == (label,)


def test_nothing_that_is_offered_can_reach_the_terminal_as_a_command() -> None:
    for body in BODIES:
        for line in [*offered(body), *how_to_answer(ask(body))]:
            assert line.isprintable(), line


def test_a_plan_and_a_form_are_offered_whole() -> None:
    assert offered(Plan("1.")) == [
        "  --approve",
        "  --approve --mode acceptEdits",
        "  --revise 'What to change'",
        "  --outline",
    ]
    assert offered(Form("?", "s", {"properties": {"n": {}}})) == [
        "  --fill '{\"n\": …}'",
        "  --decline",
        "  --dismiss",
    ]


def test_the_examples_of_the_help_are_answers() -> None:
    result = CliRunner().invoke(main, ["answer", "--help"]).output
    examples = [line.strip() for line in result.splitlines() if line.strip().startswith("handraise answer")]
    *examples, from_stdin, from_file = examples
    assert from_stdin.endswith("--text - < answer.txt")
    assert from_file.endswith("--fill @values.json")
    assert len(examples) == 4
    two = Question((odd("SQLite").questions[0], Prompt("How many?")))
    bodies: list[Body] = [odd("SQLite"), two, Permission("Bash", {}, offers=(Offer("session", "x", ()),)), NPM]
    for line, body in zip(examples, bodies, strict=True):
        answer_in(flags_of(line.replace("a_…", "a_1")), body)
