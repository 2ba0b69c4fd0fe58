"""What "always" and "for this session" would grant, in words that promise no more than the rules do."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.policy.calls import Call
from handraise.policy.decide import decide
from handraise.policy.suggest import suggest
from handraise.present.offers import offer_in_words

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def bash(command: str) -> Call:
    return Call("Bash", {"command": command}, "/p", project="p_1", session="s_1")


def use(tool: str, **input_: object) -> Call:
    return Call(tool, input_, "/p", project="p_1", session="s_1")


@pytest.mark.parametrize(
    ("command", "scope", "patterns"),
    [
        ("npm run build", "`npm run build`", ["npm run build"]),
        ("npm install x", "`npm install x`", ["npm install x"]),
        ("git status -s", "any `git status …`", ["git status *"]),
        ("git push origin main", "`git push origin main`", ["git push origin main"]),
        ("git commit -m 'a b'", "any `git commit …`", ["git commit *"]),
        ("cargo test x", "any `cargo test …`", ["cargo test *"]),
        ("docker compose logs -f", "any `docker compose logs …`", ["docker compose logs *"]),
        ("docker run x", "`docker run x`", ["docker run x"]),
        ("kubectl get pods", "any `kubectl get …`", ["kubectl get *"]),
        ("make all", "`make all`", ["make all"]),
        ("uv run pytest -q", "any `uv run pytest …`", ["uv run pytest *"]),
        ("python x.py", "`python x.py`", ["python x.py"]),
        ("frob 'a b' '*'", "`frob 'a b' '*'`", ["frob 'a b' '*'"]),
        ("frob it\\'s", "`frob 'it'\\''s'`", ["frob 'it'\\''s'"]),
        ("cat .env", "`cat .env`", ["cat .env"]),
        ("ls $X", "any `ls …`", ["ls *"]),
        ("git status && npm test", "any `git status …` and any `npm test …`", ["git status *", "npm test *"]),
        ("ls; ls -l; pwd", "any `ls …` and any `pwd …`", ["ls *", "pwd *"]),
        ("cd sub && make all", "`cd sub` and `make all`", ["cd sub", "make all"]),
        ("ls $(pwd) 2>&1 | wc -l", "any `ls …`, any `pwd …` and any `wc …`", ["ls *", "pwd *", "wc *"]),
    ],
)
def test_a_command_offers_its_rules_and_spells_their_scope(command: str, scope: str, patterns: list[str]) -> None:
    offer = suggest(bash(command), "always")

    assert offer is not None
    assert offer_in_words("always", offer) == f"Always allow {scope} in this project"
    assert [rule.command for rule in offer] == patterns
    assert all(rule.tool == "Bash" and rule.project == "p_1" and rule.session is None for rule in offer)


@pytest.mark.parametrize(
    "command",
    [
        "sudo ls", "rm x", "ls; rm x", "bash -c ls", "sh x.sh", "python -c 'x'", "python3 -", "python", "node -e 1",
        "curl x | sh", "curl x", "eval ls", "source x", ". x", "env ls", "xargs ls", "ssh h", "$X", "frob $X",
        "git log $X", "ls > f", "X=1 ls", "PATH=x ls", "find . -exec rm {} +", "awk x", "chmod +x f", "ls (", "",
        "# x", "x=1", "cat <<EOF\nx\nEOF", "echo ${x@P}", "export A=1", "alias a=b", "[ -f x ]", "/bin/rm x",
        "git submodule foreach x", "git -c a=b status", "git bisect run x", "mypy --python-executable=./x",
        "go vet -vettool=./x", "ruff check -o f", "git diff --no-index a b", "python -m pytest -p x", "f() { ls; }",
        "a; b; c; d; e; f; g", "python <<EOF\nx\nEOF", "git log --output=f", "kill 1", "ls\rrm",
    ],
)  # fmt: skip
def test_nothing_is_offered_where_nothing_safe_can_be(command: str) -> None:
    assert suggest(bash(command), "always") is None
    assert suggest(bash(command), "session") is None


@pytest.mark.parametrize(
    ("call", "scope"),
    [
        (use("Edit", file_path="/p/src/a/b.py"), "Edit to any file in `src/a/`"),
        (use("Write", file_path="/p/b.py"), "Write to `b.py`"),
        (use("NotebookEdit", notebook_path="/p/n/x.ipynb"), "NotebookEdit to any file in `n/`"),
        (use("Read", file_path="/etc/hosts"), "Read from `/etc/hosts`"),
        (use("Monitor", command="ls", description="x", timeout_ms=5), "any `ls …`"),
        (use("mcp__x__y"), "`mcp__x__y` with any input"),
    ],
)
def test_a_tool_offers_its_place_and_says_it(call: Call, scope: str) -> None:
    offer = suggest(call, "session")

    assert offer is not None
    assert offer_in_words("session", offer) == f"Allow {scope} for this session"
    assert all(rule.session == "s_1" and rule.project is None for rule in offer)


@pytest.mark.parametrize(
    "call",
    [
        use("AskUserQuestion"),
        use("ExitPlanMode"),
        use("mcp__handraise__ask_user"),
        use("WebFetch", url="x"),
        use("Monitor", command="ls; rm x"),
        use("Monitor", command="ls", shell="fish"),
        use("CronCreate", prompt="x", cron="* * * * *"),
        use("ScheduleWakeup", prompt="x"),
        use("Workflow", script="x"),
        use("SomethingNew", x="y"),
        use("mcp__x__y", command="rm x"),
        use("mcp__x__y", command=["ls"]),
        use("mcp__x__y", cmd="ls"),
        use("mcp__x__y", command="ls", host="h"),
        use("Task"),
        use("Read", file_path="/p/.env"),
        use("Write", file_path="/p/.git/hooks/x"),
        use("Edit"),
        use("Edit", file_path="/p/a*b/c"),
        Call("Bash", {"command": "ls"}, "/p"),
    ],
)
def test_some_tools_are_never_granted_for_longer(call: Call) -> None:
    assert suggest(call, "always") is None


def test_a_link_out_of_the_project_is_offered_by_its_true_name() -> None:
    offer = suggest(use("Read", file_path="/p/link"), "always", resolve=lambda path: path.replace("/p/link", "/out/x"))

    assert offer is not None
    assert offer[0].path == "/out/x"


@given(
    st.lists(
        st.sampled_from(["ls", "git status", "npm run x", "frob 'a*b' c", "; ", " && ", " | ", "$(", ")", " > f", "rm"])
    )
)
def test_whatever_is_offered_covers_the_call_and_no_unlisted_command(pieces: list[str]) -> None:
    call = bash("".join(pieces))
    offer = suggest(call, "always")

    if offer is not None:
        assert decide(call, offer, NOW).decision == "allow"
        assert decide(bash("rm -rf x"), offer, NOW).decision == "ask"
        assert decide(bash(f"{call.command}; rm -rf x"), offer, NOW).decision == "ask"
