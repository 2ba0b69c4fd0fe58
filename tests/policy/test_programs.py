"""What we know about programs."""

import pytest

from handraise.policy.options import OPERANDS, Standing, read_usage
from handraise.policy.programs import is_harmless_variable, known_name, runs_its_words, standing_of, usage_of
from handraise.policy.shell_words import Word
from handraise.policy.usages import BASIC, GIT, TOOLS


def literal(command: str) -> list[Word]:
    return [Word(each) for each in command.split()]


@pytest.mark.parametrize(
    ("name", "harmless"),
    [
        ("LANG", True),
        ("LC_ALL", True),
        ("x", True),
        ("file2", True),
        ("NO_COLOR", True),
        ("PATH", False),
        ("path", False),
        ("LD_PRELOAD", False),
        ("NODE_OPTIONS", False),
        ("GIT_SSH_COMMAND", False),
        ("GIT_CONFIG_COUNT", False),
        ("PYTEST_ADDOPTS", False),
        ("PYTHONWARNINGS", False),
        ("http_proxy", False),
        ("IFS", False),
        ("a[0]", False),
        ("", False),
    ],
)
def test_a_variable_is_harmless_only_when_it_is_known_to_be(name: str, harmless: bool) -> None:
    assert is_harmless_variable(name) is harmless


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("sudo ls", True),
        ("/usr/bin/env ls", True),
        ("find . -exec x", True),
        ("find . -name x", False),
        ("python -c x", True),
        ("python3.12 -c x", True),
        ("python", True),
        ("python -u -c x", True),
        ("python x.py -c", False),
        ("git status", False),
        ("git -c a=b x", True),
        ("git submodule foreach x", True),
        ("git rebase -x y", True),
        ("git bisect run x", True),
        ("git push --force", False),
        ("tar --to-comm=x", True),
        ("ls", False),
        ("xargs rm", True),
        ("awk x", True),
    ],
)
def test_programs_that_run_their_own_words_are_known(command: str, runs: bool) -> None:
    assert runs_its_words(literal(command)) is runs


@pytest.mark.parametrize(
    ("command", "standing", "record"),
    [
        ("npm run x", Standing.EXACT, 2),
        ("docker compose logs -f", Standing.OPEN, 3),
        ("npm install", Standing.EXACT, 1),
        ("ls", Standing.OPEN, 1),
        ("git --no-pager log", Standing.OPEN, 3),
        ("git submodule foreach x", Standing.NEVER, 0),
        ("frob", Standing.EXACT, 0),
        ("sudo ls", Standing.NEVER, 0),
        ("python3.12 -c x", Standing.NEVER, 0),
        ("python3.12 x.py", Standing.EXACT, 0),
        ("python3.12 -m pytest", Standing.OPEN, 3),
    ],
)
def test_what_always_may_offer_is_known(command: str, standing: Standing, record: int) -> None:
    assert standing_of(literal(command)) == (standing, record)


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("/usr/bin/rm", "rm"),
        ("python3.12", "python3"),
        ("perl5.36.0", "perl"),
        ("gcc-12", "gcc"),
        ("sha256sum", "sha256sum"),
        ("frob2", "frob2"),
    ],
)
def test_a_program_is_known_by_its_other_names(program: str, name: str) -> None:
    assert known_name(program) == name


def test_every_row_of_the_tables_can_be_read() -> None:
    for key, written in (GIT | TOOLS | BASIC).items():
        usage = read_usage(written)
        strange = [each for each in written.split() if each not in ("+", "=", "!", "**") and each[0] not in "-@"]

        assert strange == [], key
        assert set(usage.operands) <= set(OPERANDS), key
        assert usage_of(literal(key)) == (usage, len(key.split())), key
