"""The headline: one sentence, with nothing hidden in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.model.asks import Body, Form, Permission, Plan, Prompt, Question
from handraise.model.names import has_hidden
from handraise.model.trust import Trust
from handraise.present.headlines import headline, lines_of, without_marks
from present.asked import CHANGE, HERE, NEW, ask_of, bash


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (bash("npm test"), "Run `npm test`?"),
        (bash("x" * 73), "Run this command?"),
        (bash("a\nb"), "Run this command?"),
        (bash("echo `id`"), "Run this command?"),
        (bash("rm -rf \u202e/"), "Run this command?"),
        (bash("ls" + " " * 60 + "; rm -rf /"), "Run this command?"),
        (Permission("Bash", {"command": ["ls"]}), "Run this command?"),
        (Permission("Write", {"file_path": f"{HERE}/a.py", "content": "1\n2\n"}, diff=NEW), "Create `a.py` (2 lines)?"),
        (Permission("Write", {"file_path": f"{HERE}/a", "content": "1"}, diff=NEW), "Create `a` (1 line)?"),
        (Permission("Write", {"file_path": "/etc/x", "content": "1"}, diff=CHANGE), "Write 1 line to `/etc/x`?"),
        (Permission("Write", {"file_path": "/etc/x", "content": ""}), "Create an empty file `/etc/x`?"),
        (Permission("Write", {"file_path": "/etc/x", "content": ""}, diff=""), "Create an empty file `/etc/x`?"),
        (
            Permission("Write", {"file_path": "/a", "content": ""}, diff="@@ -1 +0,0 @@\n-1\n"),
            "Delete everything in `/a`?",
        ),
        (Permission("Write", {"file_path": "/etc/x", "content": 7}), "Write to `/etc/x`?"),
        (Permission("Write", {}), "Use `Write`?"),
        (Permission("Edit", {"file_path": f"{HERE}/src/a.py"}), "Edit `src/a.py`?"),
        (Permission("MultiEdit", {"file_path": "/a.py"}), "Edit `/a.py`?"),
        (Permission("NotebookEdit", {"notebook_path": "/a.ipynb"}), "Edit `/a.ipynb`?"),
        (Permission("Edit", {"file_path": "/a\u202e`b`"}), "Edit `/a⟨U+202E⟩ˋbˋ`?"),
        (Permission("Read", {"file_path": "/etc/passwd"}), "Read `/etc/passwd`?"),
        (Permission("Glob", {"pattern": "**/*.py"}), "Find files matching `**/*.py`?"),
        (Permission("Grep", {"pattern": "TODO", "path": "/etc"}), "Search files for `TODO`?"),
        (Permission("LS", {"path": f"{HERE}/src"}), "List the files in `src`?"),
        (Permission("WebFetch", {"url": "https://example.org"}), "Fetch `https://example.org`?"),
        (Permission("WebFetch", {"url": "x" * 100}), "Use `WebFetch`?"),
        (Permission("WebSearch", {"query": "lamps"}), "Search the web for `lamps`?"),
        (Permission("Task", {"description": "Look around", "prompt": "…"}), "Start the agent `Look around`?"),
        (Permission("Skill", {"skill": "pdf"}), "Use the skill `pdf`?"),
        (Permission("KillShell", {"shell_id": "1"}), "Use `KillShell`?"),
        (Permission("mcp__github__create_issue", {}), "Use `create_issue` from `github`?"),
        (Permission("mcp__broken", {}), "Use `mcp__broken`?"),
        (Permission("Strange\u200b`", {}), "Use `Strange⟨U+200B⟩ˋ`?"),
        (Question((Prompt("Which database?"),)), "Which database?"),
        (Question((Prompt("Which?"), Prompt("And\nwhy?"))), "Which? · And why?"),
        (Question((Prompt(" "),)), "Claude has a question."),
        (Plan("# Move `it` *now*"), "Claude has a plan: Move it now"),
        (Plan("1. Move"), "Claude has a plan."),
        (Plan(""), "Claude has a plan."),
        (Form("Where to?", "forms", {}), "`forms` asks: Where to?"),
        (Form(" ", "forms", {}), "`forms` asks you to fill in a form."),
        (Form(" ", "forms", {}, "https://a.example"), "`forms` asks you to visit a link."),
        (Trust("/work/shop", (), {}), "Trust the Claude Code settings in `/work/shop`?"),
    ],
)
def test_what_is_asked(body: Body, text: str) -> None:
    assert headline(ask_of(body), HERE) == text


def test_a_path_is_whole_where_no_directory_is_known() -> None:
    assert headline(ask_of(Permission("Read", {"file_path": f"{HERE}/a"})), None) == f"Read `{HERE}/a`?"
    assert headline(ask_of(Permission("Read", {"file_path": f"{HERE}ling/a"})), HERE) == f"Read `{HERE}ling/a`?"


@pytest.mark.parametrize(("content", "count"), [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\nb", 2)])
def test_an_empty_file_has_no_lines(content: str, count: int) -> None:
    assert lines_of(content) == count


def test_a_surface_without_quotes_leaves_the_marks_out() -> None:
    assert without_marks("Run `npm test`?") == "Run npm test?"


TEXT = st.text(max_size=200)


@given(TEXT, TEXT, st.sampled_from(["Bash", "Write", "Edit", "Read", "WebFetch", "Task", "mcp__a__b", "Strange"]))
def test_whatever_is_asked_fits_on_one_line_and_hides_nothing(one: str, other: str, tool: str) -> None:  # lesson 39
    fields = {"command": one, "file_path": one, "url": one, "content": other, "description": one}
    for body in (Permission(tool, fields), Question((Prompt(one), Prompt(other))), Form(one, other, {})):
        text = headline(ask_of(body), None)
        assert text
        assert "\n" not in text
        assert not has_hidden(text)


@given(TEXT)
def test_no_text_ends_its_quote_early(text: str) -> None:  # lesson 43
    for body in (Permission("Read", {"file_path": text}), Permission(text or "x", {}), Form("7", text, {})):
        assert headline(ask_of(body), None).count("`") == 2
