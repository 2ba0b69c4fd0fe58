"""What the rules decide about calls: allowing needs every part, denying needs any, and a doubt asks."""

from datetime import UTC, datetime, timedelta

import pytest

from handraise.model.rules import Rule
from handraise.policy.calls import Call
from handraise.policy.decide import Ruling, decide

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def allow(command: str, rule: str = "r_1") -> Rule:
    return Rule(rule, "allow", tool="Bash", command=command)


def deny(command: str, rule: str = "r_d") -> Rule:
    return Rule(rule, "deny", tool="Bash", command=command, message="Not this.")


def bash(command: str) -> Call:
    return Call("Bash", {"command": command}, "/p", project="p_1", session="s_1")


USUAL = [
    allow(each, f"r_{number}")
    for number, each in enumerate(
        [
            "git status",
            "git log *",
            "npm run *",
            "ls *",
            "find *",
            "echo *",
            "cat *",
            "sed *",
            "awk *",
            "sort *",
            "test *",
        ]
    )
]


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git log",
        "git log --oneline -n 5",
        "git log HEAD~3..HEAD -- src/*.py",
        "git status && git log",
        "git status; npm run build",
        "git status | cat -n",
        "(git status; ls)",
        "{ git status; ls; } 2>&1",
        "git status 2>/dev/null",
        "git status >/dev/null 2>&1",
        "'git' status",
        'g"i"t status',
        "git \\\n status",
        "git status # rm x",
        "npm run build",
        "npm run build &",
        "ls $HOME *.py",
        "ls $(git status)",
        "cat < f",
        "cat <<EOF\nhi $(git status)\nEOF",
        "echo '$(rm x)' '; rm x'",
        "echo $((1 + 2)) ${x:-y}",
        "for f in a b; do cat $f; done",
        "if git status; then ls; else echo no; fi",
        "x=$(git status); echo $x",
        "LC_ALL=C NO_COLOR=1 ls",
        "find . -name '*.py' -type f",
        "sed -n 1,5p f",
        "sed 's/a/b/g' f",
        "awk '{print $1}' f",
        "sort -n f",
        "test -f x",
    ],
)
def test_a_command_is_allowed_when_rules_cover_every_part(command: str) -> None:
    ruling = decide(bash(command), USUAL, NOW)

    assert ruling.decision == "allow", ruling.why
    assert ruling.rules


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf x",
        "git status\nrm -rf x",
        "git status && rm -rf x",
        "git status || rm -rf x",
        "git status | rm -rf x",
        "git status & rm -rf x",
        "git status $(rm x)",
        "ls $(rm x)",
        "ls `rm x`",
        "ls <(curl x)",
        'ls "$(rm x)"',
        "echo ${x:-$(rm x)}",
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<EOF\nhi\nEOF\nrm x",
        "for f in a; do rm $f; done",
        "if git status; then rm x; fi",
        "git() { rm x; }; git status",
        "f() { ls; }; ls",
        "function f { ls; }; ls",
        "npm run build -- --watch",
        "PYTHONWARNINGS=error::x.Y ls",
        "hash -p ./x ls; ls",
        "git status -s",
        "git statusx",
        "git",
        "git push",
        "git -c core.pager=x status",
        "git -C /tmp status",
        "git --exec-path=/tmp status",
        "git log --output=x",
        "git log --outpu=x",
        "git log --ext-diff",
        "git log $X",
        'git log "$X"',
        "git log a$X",
        "sudo git status",
        "env git status",
        "env X=1 git status",
        "nohup git status",
        "time git status",
        "nice git status",
        "timeout 5 git status",
        "command git status",
        "builtin echo",
        "exec ls",
        "eval ls",
        "bash -c 'git status'",
        "sh -c ls",
        "xargs ls",
        "ls | xargs rm",
        "ssh h git status",
        "/usr/bin/git status",
        "./git status",
        "$X status",
        "$(ls) x",
        "git $X",
        "g?t status",
        "{git,status}",
        "echo hi > file",
        "echo hi >> file",
        "echo hi > $f",
        "echo hi &> file",
        "ls 2> file",
        "(ls; ls) > file",
        "cat < /dev/tcp/h/1",
        "cat < $f",
        "PATH=/tmp ls",
        "LD_PRELOAD=x ls",
        "GIT_SSH_COMMAND=x git log",
        "BASH_ENV=x ls",
        "PAGER=x git log",
        "EDITOR=x git log",
        "FOO=bar ls",
        "PATH=/tmp; ls",
        "path=/tmp; ls",
        "for PATH in /tmp; do ls; done",
        "export PATH=/tmp; ls",
        "alias ls=rm; ls",
        "find . -exec rm {} \\;",
        "find . -execdir rm {} +",
        "find . -ok rm {} \\;",
        "find . -delete",
        "find . -fprint f",
        "find . $X",
        "sed -i s/a/b/ f",
        "sed --in-place s/a/b/ f",
        "sed 's/a/b/w out' f",
        "sed 's/a/b/e' f",
        "sed wout f",
        "sed '1e rm x' f",
        "sed -n -e 1p -e 'w out' f",
        "sed -f script f",
        "awk 'BEGIN{system(\"rm x\")}'",
        "awk '{print > \"f\"}' f",
        "awk '{print | \"sh\"}' f",
        "awk -f script f",
        "sort -o f f",
        "sort -no f f",
        "sort --output=f f",
        "sort --compress-program=sh f",
        "test -v 'a[$(rm x)]'",
        "[[ -f x ]]",
        "echo $((x))",
        "echo ${x@P}",
        "tee f",
        "git status\r",
        "git\u00a0status",
        "git status \u202e",
        "git status (",
        "",
        "   ",
        "# git status",
        "git status " + "a" * 20_000,
    ],
)
def test_a_person_is_asked_about_whatever_no_rule_covers(command: str) -> None:  # lesson 44
    assert decide(bash(command), USUAL, NOW).decision == "ask"


@pytest.mark.parametrize(
    "command",
    ["rm -rf x", "ls; rm x", "ls $(rm x)", "r'm' x", "\\rm x", "/bin/rm x", "sudo rm x", "env A=1 rm x", "xargs rm",
     "find . -exec rm {} +", "nohup timeout 5 rm x", "rm > f", "X=1 rm x", "if ls; then rm x; fi"],
)  # fmt: skip
def test_a_denial_holds_for_any_part_and_behind_wrappers(command: str) -> None:
    ruling = decide(bash(command), [deny("rm *"), Rule("r_all", "allow", tool="Bash")], NOW)

    assert ruling == Ruling("deny", ruling.why, ("r_d",), "Not this.")


@pytest.mark.parametrize(
    "command", ["$X x", "bash -c 'rm x'", "eval $x", "r? x", "python -c 'x'", "ls\rrm x", "echo $((x))", "ls ("]
)
def test_what_a_denial_may_mean_is_asked_and_not_allowed(command: str) -> None:
    assert decide(bash(command), [deny("rm *"), Rule("r_all", "allow", tool="Bash")], NOW).decision == "ask"


@pytest.mark.parametrize("rule", [Rule("r_1", "allow", tool="Bash"), Rule("r_1", "allow", tool="*"), allow("*")])
def test_a_rule_for_every_command_means_every_command_that_can_be_read(rule: Rule) -> None:
    assert decide(bash("sudo rm -rf x > f; PATH=x $y"), [rule], NOW).decision == "allow"
    assert decide(bash("rm -rf x \u202e"), [rule], NOW).decision == "ask"
    assert decide(bash("rm 'x"), [rule], NOW).decision == "ask"


def test_an_unreadable_command_is_denied_only_where_every_command_is() -> None:
    assert decide(bash("ls ("), [Rule("r_1", "deny", tool="Bash")], NOW).decision == "deny"
    assert decide(bash("ls ("), [deny("rm *")], NOW).decision == "ask"
    assert decide(bash("ls ("), [allow("ls *"), Rule("r_2", "deny", tool="Bash")], NOW).decision == "ask"


def test_a_call_that_wants_out_of_the_sandbox_is_asked_about() -> None:
    call = Call("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}, "/p")

    assert decide(call, [Rule("r_1", "allow", tool="Bash")], NOW).decision == "ask"


def test_the_first_rule_that_matches_decides() -> None:
    push = bash("git push")

    assert decide(push, [deny("git push *"), allow("git *")], NOW).decision == "deny"
    assert decide(push, [allow("git *"), deny("git push *")], NOW).decision == "allow"
    assert decide(push, [Rule("r_a", "ask", tool="Bash", command="git push"), allow("git *")], NOW).decision == "ask"


def test_a_denied_part_beats_allowed_ones_and_unknown_ones() -> None:
    assert decide(bash("ls; who; rm x"), [allow("ls *"), deny("rm *")], NOW).decision == "deny"


def test_the_reason_is_a_sentence_that_names_rule_or_part() -> None:
    assert decide(bash("npm run x"), [allow("npm run *")], NOW).why == "Rule r_1 allows `npm run *`."
    assert decide(bash("ls; rm -rf x"), [allow("ls *")], NOW).why == "No rule allows `rm -rf x` in this command."
    assert decide(bash("ls > f"), [allow("ls *")], NOW).why == "No rule allows writing to `f` in this command."
    assert decide(bash("PATH=x ls"), [allow("ls *")], NOW).why == "No rule allows setting `PATH` in this command."
    assert decide(bash("ls ("), [], NOW).why.startswith("This command can't be parsed, so no rule applies")
    assert decide(bash("$X"), [deny("rm *")], NOW).why == "Rule r_d for `rm *` might match `$X`."
    assert decide(bash("rm x"), [deny("rm *")], NOW).why == "Rule r_d denies `rm x`."


def test_an_allowed_command_names_every_rule_that_was_needed() -> None:
    assert decide(bash("ls; git status; ls"), [allow("ls", "r_a"), allow("git status", "r_b")], NOW).rules == (
        "r_a",
        "r_b",
    )


@pytest.mark.parametrize(
    "rule",
    [
        Rule("r", "allow", tool="Bash", expires_at=NOW),
        Rule("r", "allow", tool="Bash", expires_at=NOW - timedelta(days=1)),
        Rule("r", "allow", tool="Bash", project="p_2"),
        Rule("r", "allow", tool="Bash", session="s_2"),
        Rule("r", "allow", tool="Bash", mode="plan"),
        Rule("r", "allow", tool="Bash", server="x"),
        Rule("r", "allow", tool="bash"),
        Rule("r", "allow", tool="Bas"),
        Rule("r", "allow", tool="Bash", path="**"),
        Rule("r", "allow", tool="Bash", command="l's"),
    ],
)
def test_a_rule_that_is_over_or_meant_for_elsewhere_does_not_decide(rule: Rule) -> None:
    assert decide(bash("ls"), [rule], NOW).decision == "ask"


def test_a_rule_within_its_time_and_scope_decides() -> None:
    later = NOW + timedelta(seconds=1)
    rule = Rule("r", "allow", tool="B*h", project="p_1", session="s_1", mode="default", expires_at=later)

    assert decide(bash("ls"), [rule], NOW).decision == "allow"
