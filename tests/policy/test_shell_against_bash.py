"""The real bash as a witness: whatever it tries to run was seen by our reading, word for word."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handraise.policy.shell import Opaque, Part, parse

BASH = shutil.which("bash")
WITNESS = 'command_not_found_handle() { printf "%s\\001" "$@" >&9; printf "\\0" >&9; }\n'

pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash here")

WORDS = st.sampled_from(
    ["a", "-f", '"q q"', "'$(cc n)'", '"\\$(cc n)"', "$v", '"$v"', "{a,b}", "*.z", "~/x", "\\;", "\\cc", "$'cc'", "a#b",
     "#z", "$", '"$"', '"$ "', '"$ $(cc k)"', "${v:-$(cc k)}", "`cc k`", '"`cc k`"', "$(cc k)", "$((1+1))", "{}", "!",
     ">f", "2>&1", ">/dev/null", "<<< x", "2> g", "if", "do", "done", "==", "=", "k=1", "a\\ b", "\\\n", "[", "]"]
)  # fmt: skip
SIMPLE = st.builds(
    lambda name, rest: " ".join([name, *rest]), st.sampled_from(["aa", "bb", "k=1 cc"]), st.lists(WORDS, max_size=4)
)
COMMANDS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds("{}{}{}".format, inner, st.sampled_from(["; ", "\n", " && ", " || ", ";", " # c\n"]), inner),
        st.builds("( {} )".format, inner),
        st.builds("{{ {}\n}}".format, inner),
        st.builds("! {}".format, inner),
        st.builds("if {}; then {}; else {}; fi".format, inner, inner, inner),
        st.builds("for k in x y; do {}; done".format, inner),
        st.builds("case x in x) {};; esac".format, inner),
        st.builds("cat <<E\nt {}\nE\n{}".format, WORDS, inner),
        st.builds("aa $({})".format, inner),
        st.builds('aa "$ $({})"'.format, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(command=COMMANDS)
def test_bash_runs_nothing_that_was_not_seen(command: str, tmp_path: Path) -> None:  # lesson 44
    read = parse(command)
    if isinstance(read, Opaque):
        return
    seen = [_as_expression(part) for part in read.parts]

    for ran in _run(command, tmp_path):
        assert any(each.fullmatch(ran) for each in seen), f"bash ran {ran!r} in {command!r}"


def _as_expression(part: Part) -> re.Pattern[str]:
    any_words = "(?:[^\x01]*\x01)*"
    return re.compile("".join(re.escape(w.text) + "\x01" if w.literal else any_words for w in part.words), re.DOTALL)


def _run(command: str, directory: Path) -> list[str]:
    """Every command line that bash would have started, had it found any program."""
    assert BASH is not None
    log = directory / "ran"
    script = f"exec 9>>{log}\n{WITNESS}{command}"
    subprocess.run(
        [BASH, "--norc", "-c", script],
        cwd=directory,
        env={"PATH": os.devnull},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    ran = [each for each in log.read_text().split("\0") if each]
    log.unlink()
    return ran
