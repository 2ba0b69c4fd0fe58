"""Real shells as witnesses: our parser saw everything that bash or zsh tries to run, word for word, and nothing
runs that the rules did not allow."""

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import decide
from handraise.policy.shell import Opaque, SimpleCommand, parse
from policy.fuzzing import examples, fuzzed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHELLS = {
    "bash": ["--norc", "--noprofile"],
    "zsh": ["-f"],
}
# Both call it with the words of a command that they do not find. One write for each: commands run beside each other.
WITNESS = {
    "bash": 'command_not_found_handle() { local IFS=$\'\\001\'; printf "%s\\001\\0" "$*" >&9; }\n',
    "zsh": 'command_not_found_handler() { local IFS=$\'\\001\'; printf "%s\\001\\0" "$*" >&9; }\n',
}
LISTED = [Rule(f"r_{each}", "allow", tool="Bash", command=f"{each} *") for each in ("aa", "bb")]

WORDS = st.sampled_from(
    ["a", "-f", '"q q"', "'$(cc n)'", '"\\$(cc n)"', "$v", '"$v"', "{a,b}", "*.z", "~/x", "\\;", "\\cc", "$'cc'", "a#b",
     "#z", "$", '"$"', '"$ "', '"$ $(cc k)"', "${v:-$(cc k)}", "`cc k`", '"`cc k`"', "$(cc k)", "$((1+1))", "{}", "!",
     ">f", "2>&1", ">/dev/null", "<<< x", "2> g", "if", "do", "done", "==", "=", "k=1", "a\\ b", "\\\n", "[", "]",
     "=cc", "=(cc k)", "<(cc k)", "${v:=cc}", "${(e)v}", "$v[1]", "*(e:cc:)", "^cc", "a~b", "$((v[1]))",
     "${v/x/$(cc k)}", "{1..3}", "$'\\x63c'", "''", '""', "%1", "-", "--", "&>f", ">|f", "<f", "é", "\\\\",
     "'a'\\''b'", "!!",
     "a=$(cc k)"]
)  # fmt: skip
SIMPLE = st.builds(
    lambda name, rest: " ".join([name, *rest]),
    st.sampled_from(["aa", "bb", "k=1 cc", "k=1", "cc", "\\aa", "'bb'", "a'a'", "test", "printf"]),
    st.lists(WORDS, max_size=4),
)
COMMANDS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(
            "{}{}{}".format, inner, st.sampled_from(["; ", "\n", " && ", " || ", ";", " # c\n", " | ", "&"]), inner
        ),
        st.builds("( {} )".format, inner),
        st.builds("{{ {}\n}}".format, inner),
        st.builds("! {}".format, inner),
        st.builds("if {}; then {}; else {}; fi".format, inner, inner, inner),
        st.builds("for k in x y; do {}; done".format, inner),
        st.builds("case x in x) {};; esac".format, inner),
        st.builds("cat <<E\nt {}\nE\n{}".format, WORDS, inner),
        st.builds("cat <<'E'\nt {}\nE\n{}".format, WORDS, inner),
        st.builds("aa() {{ {}\n}}\naa".format, inner),
        st.builds("aa $({})".format, inner),
        st.builds("aa `{}`".format, inner),
        st.builds('aa "$ $({})"'.format, inner),
        st.builds("[[ a = $({}) ]]".format, inner),
    ),
    max_leaves=6,
)
HOSTILE = st.lists(
    st.sampled_from(
        [*"aabbcc $(){}`'\"\\;&|<>#\n=*-[]!~", "aa ", "bb x", "cc", "$(", "<<E\n", "E\n", "${", "((", "))", "&&"]
    ),
    max_size=14,
).map("".join)  # fmt: skip


@pytest.fixture(params=sorted(SHELLS))
def shell(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    return name


@fuzzed
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(command=COMMANDS | HOSTILE)
def test_a_shell_runs_nothing_that_was_not_seen(command: str, shell: str, tmp_path: Path) -> None:  # lesson 44
    read = parse(command)
    if isinstance(read, Opaque):
        return
    seen = [_as_expression(part) for part in read.parts]

    for ran in _run(shell, command, tmp_path):
        assert any(each.fullmatch(ran) for each in seen), f"{shell} ran {ran!r} in {command!r}"


@fuzzed
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(command=COMMANDS | HOSTILE)
def test_a_shell_runs_only_what_rules_allow_and_writes_nothing(command: str, shell: str, tmp_path: Path) -> None:
    if decide(Call("Bash", {"command": command}, "/p"), LISTED, NOW).decision != "allow":
        return

    for ran in _run(shell, command, tmp_path):
        assert ran.split("\x01")[0] in ("aa", "bb"), f"{shell} ran {ran!r} in {command!r}"
    assert list(tmp_path.iterdir()) == [], f"{shell} wrote in {command!r}"


def _as_expression(part: SimpleCommand) -> re.Pattern[str]:
    any_words = "(?:[^\x01]*\x01)*"
    return re.compile("".join(re.escape(w.text) + "\x01" if w.literal else any_words for w in part.words), re.DOTALL)


def _run(shell: str, command: str, directory: Path) -> list[str]:
    """Every command line that the shell would have started, had it found any program."""
    found = shutil.which(shell)
    assert found is not None
    log = directory.parent / f"{directory.name}.ran"
    log.touch()
    script = f"exec 9>>{log}\n{WITNESS[shell]}{command}"
    subprocess.run(
        [found, *SHELLS[shell], "-c", script],
        cwd=directory,
        env={"PATH": os.devnull, "HOME": os.devnull},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    ran = [each for each in log.read_text(errors="replace").split("\0") if each]
    log.unlink()
    return ran
