"""Parsed commands: everything that runs is seen, wherever it is."""

import pytest

from handraise.policy.shell import Opaque, Script, SimpleCommand, parse


def programs(command: str) -> list[str]:
    """The first word of every part that has words; `?` where only the shell could know it."""
    read = parse(command)
    assert isinstance(read, Script), read
    return [part.program or "?" for part in read.parts if part.words]


def only_part(command: str) -> SimpleCommand:
    read = parse(command)
    assert isinstance(read, Script), read
    (part,) = read.parts
    return part


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", ["git"]),
        ("git status; rm -rf x", ["git", "rm"]),
        ("git status;rm -rf x", ["git", "rm"]),
        ("git status && rm -rf x", ["git", "rm"]),
        ("git status&&rm -rf x", ["git", "rm"]),
        ("git status || rm -rf x", ["git", "rm"]),
        ("git status | rm -rf x", ["git", "rm"]),
        ("git status |& rm -rf x", ["git", "rm"]),
        ("git status & rm -rf x", ["git", "rm"]),
        ("ls & rm x", ["ls", "rm"]),
        ("ls &", ["ls"]),
        ("git status\nrm -rf x", ["git", "rm"]),
        ("git status\n\n\n  rm -rf x\n", ["git", "rm"]),
        ("git status # nothing\nrm x", ["git", "rm"]),
        ("git status # ; rm x", ["git"]),
        ("git log a#b; rm x", ["git", "rm"]),
        ("git \\\n  status", ["git"]),
        ("git status \\\n  && rm x", ["git", "rm"]),
        ("git status $(rm x)", ["git", "rm"]),
        ("git status `rm x`", ["git", "rm"]),
        ('git status "$(rm x)"', ["git", "rm"]),
        ('git status "a `rm x` b"', ["git", "rm"]),
        ("git status '$(rm x)'", ["git"]),
        ('git status "\\$(rm x)"', ["git"]),
        ("git status \\$\\(rm x\\)", ["git"]),
        ("diff <(curl x) <(cat y)", ["diff", "curl", "cat"]),
        ("ls > >(rm x)", ["ls", "rm"]),
        ("tee >(rm x)", ["tee", "rm"]),
        ("echo $(echo $(rm x))", ["echo", "echo", "rm"]),
        ("echo ${x:-$(rm x)}", ["echo", "rm"]),
        ("echo $(( $(rm x) + 1 ))", ["echo", "?", "rm"]),
        ("echo <<< $(rm x)", ["echo", "rm"]),
        ("cat <<< x", ["cat"]),
        ("a=$(b)", ["b"]),
        ("a=$(b) c", ["c", "b"]),
        ("a=(x $(b))", ["b"]),
        ("export A=$(b)", ["export", "b"]),
        ("declare -x A=`b`", ["declare", "b"]),
        ("(rm x)", ["rm"]),
        ("( cd x && rm y )", ["cd", "rm"]),
        ("{ rm x; }", ["rm"]),
        ("{ ls; rm x; } | cat", ["ls", "rm", "cat"]),
        ("! rm x", ["rm"]),
        ("if a; then b; fi", ["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while read l; do rm $l; done < f", ["read", "rm"]),
        ("until a; do b; done", ["a", "b"]),
        ("for f in *; do rm $f; done", ["rm"]),
        ("for f in $(a); do b; done", ["a", "b"]),
        ("select x in a b; do rm $x; done", ["rm"]),
        ("case $x in a) rm x;; *) ls;; esac", ["rm", "ls"]),
        ("case $(a) in b) c;; esac", ["a", "c"]),
        ("cat <<EOF\nhi\nEOF", ["cat"]),
        ("cat <<EOF\n$(rm x)\nEOF", ["cat", "rm"]),
        ("cat <<'EOF'\n$(rm x)\nEOF", ["cat"]),
        ("cat <<EOF\nhi\nEOF\nrm x", ["cat", "rm"]),
        ("cat <<EOF && rm x\nhi\nEOF", ["cat", "rm"]),
        ("cat <<EOF | sh\nhi\nEOF", ["cat", "sh"]),
        ("cat <<-EOF\n\thi\n\tEOF\nrm x", ["cat", "rm"]),
        ("[ -f x ] && rm x", ["[", "rm"]),
        ("[[ -f $(a) ]]", ["[[", "a"]),
        ("test -f x || rm x", ["test", "rm"]),
        ("((i++))", ["(("]),
        ("for ((i=0; i<3; i++)); do rm x; done", ["for", "rm"]),
        ("time ls", ["time"]),
        ("coproc rm x", ["coproc"]),
        ("sudo git status", ["sudo"]),
        ("env X=1 git status", ["env"]),
        ("eval 'rm x'", ["eval"]),
        ("source x", ["source"]),
        (". x", ["."]),
        ("exec rm x", ["exec"]),
        ("bash -c 'rm x'", ["bash"]),
        ("xargs rm", ["xargs"]),
        ("nohup rm x &", ["nohup"]),
        ("trap 'rm x' EXIT", ["trap"]),
        ("unset PATH", ["unset"]),
        ("$x rm", ["?"]),
        ("$(a) b", ["?", "a"]),
        ("`a` b", ["?", "a"]),
        ('"$x" y', ["?"]),
        ("r$x y", ["?"]),
        ("/bin/r? x", ["?"]),
        ("~/bin/x", ["?"]),
        ("$'\\x72m' x", ["?"]),
        ("echo ${x@P}", ["echo", "?"]),
        ("echo ${!x}", ["echo", "?"]),
        ("echo ${x[$(rm y)]}", ["echo", "?", "rm"]),
        ("echo ${x:=y}", ["echo", "?"]),
        ("echo $((x))", ["echo", "?"]),
        ("echo $[x]", ["echo", "?"]),
        ("echo $((1 + 2))", ["echo"]),
        ("echo ${x} ${#x} ${x:-y} ${x%.py}", ["echo"]),
        ("echo $x[1]", ["echo", "?"]),
        ("find . -exec rm {} \\;", ["find"]),
        ("r'm' -rf x", ["rm"]),
        ('r"m" -rf x', ["rm"]),
        ("'rm' -rf x", ["rm"]),
        ('"rm" -rf x', ["rm"]),
        ("\\rm -rf x", ["rm"]),
        ("r\\m -rf x", ["rm"]),
        ("$'rm' -rf x", ["rm"]),
        ("''rm -rf x", ["rm"]),
        ("2>/dev/null rm x", ["rm"]),
        ("< f cat", ["cat"]),
        ("A=1", []),
        ("# a comment", []),
        ("", []),
        ("  \n\t ", []),
        ("echo `a; b`", ["echo", "a", "b"]),
        ("a | b | c && d || e; f", ["a", "b", "c", "d", "e", "f"]),
    ],
)
def test_every_program_that_could_run_is_seen(command: str, expected: list[str]) -> None:  # lesson 44
    assert programs(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "git status\rrm x",
        "git status\x00rm x",
        "git status\x1b[2K",
        "git\u00a0status",
        "git status\u2028rm x",
        "git status \u202erm",
        "git\u200b status",
        "git \ud800",
        "git status\u0085rm x",
        'echo "${x:-`rm x`}"',
        "cat <<EOF\n`rm x`\nEOF",
        "git status (",
        "git status )",
        "git 'status",
        'git "status',
        "git `status",
        "git $(status",
        "if a; then b",
        "for x in",
        "r\\\nm -rf x",
        "git sta\\\ntus",
        "{a,b} c",
        "echo `echo \\`rm x\\``",
        'echo "$ $(rm x)"',
        "! if a; then rm x; fi",
        "[ a > f ]",
        "[]",
        'echo $"a"',
        "f() { rm x; }; f",
        "function f { rm x; }; f",
        "function f() { rm x; }",
        "git() { rm x; }; git status",
        "f() (rm x)",
        "f() { ls; } > f",
        ":(){ :|:& };:",
        "alias ls='rm x'",
        "\\alias ls=x; ls",
        "hash -p ./x ls",
        "enable -f ./x.so y",
        "cat =(rm x)",
        "ls *(e:'rm x':)",
        "ls @(a|b)",
        "cat <<EOF\nhi",
        "cat <<EOF\nhi\nEOF \nrm x",
        "cat <<A <<B\na\nA\nb\nB",
        "cat <<E'O'F\nhi\nEOF",
        "ls <> f",
        "{fd}>f ls",
        "echo == x",
        "a" * 20_001,
        "a;" * 201,
        "(" * 100 + "a" + ")" * 100,
        "echo " + "$(" * 80 + "a" + ")" * 80,
        "> f",  # zsh runs `cat` for it,
        "<a",  # and `more` for this
        "ls; <a",
        "echo $(<a)",
    ],
)
def test_what_cannot_be_read_with_certainty_is_opaque(command: str) -> None:  # lesson 44
    assert isinstance(parse(command), Opaque)


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("echo hi > file", True),
        ("echo hi >> file", True),
        ("echo hi >| file", True),
        ("echo hi &> file", True),
        ("echo hi &>> file", True),
        ("echo hi >& file", True),
        ("echo hi 2> file", True),
        ("echo hi > $f", True),
        ("echo hi > /dev/nul", True),
        ("echo hi > '/dev/null'", False),
        ("echo hi > /dev/null 2>&1", False),
        ("echo hi >&2", False),
        ("echo hi 2>&-", False),
        ("cat < f", False),
        ("cat <<< x", False),
        ("cat <<EOF\nx\nEOF", False),
        ("cat <<EOF > f\nx\nEOF", True),
        ("(ls; pwd) > f", True),
        ("{ ls; } > f", True),
        ("for x in a; do ls; done > f", True),
        ("echo $(ls > f)", True),
    ],
)
def test_redirections_tell_whether_they_write(command: str, writes: bool) -> None:
    read = parse(command)

    assert isinstance(read, Script)
    assert any(each.writes for part in read.parts for each in part.redirections) is writes


def test_assignments_belong_to_their_part() -> None:
    part = only_part("LD_PRELOAD=x PATH='a b' ls")

    assert [(each.name, each.value.text) for each in part.assignments] == [("LD_PRELOAD", "x"), ("PATH", "a b")]


def test_a_loop_sets_its_variable() -> None:
    read = parse("for PATH in /tmp; do ls; done")

    assert isinstance(read, Script)
    assert [each.name for part in read.parts for each in part.assignments] == ["PATH"]


def test_what_runs_in_the_background_is_marked() -> None:
    read = parse("sleep 9 & ls")

    assert isinstance(read, Script)
    assert [part.background for part in read.parts] == [True, False]


def test_each_part_knows_its_source() -> None:
    read = parse("git status; rm -rf 'a b'")

    assert isinstance(read, Script)
    assert [part.source for part in read.parts] == ["git status", "rm -rf 'a b'"]
