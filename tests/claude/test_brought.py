"""What files would make Claude Code do, piece by piece: each shown whole, and text is only text."""

import json
from hashlib import sha256

import pytest

from handraise.claude import brought
from handraise.claude.repository import Found, Repository
from handraise.model.asks import digest_of
from handraise.model.trust import Trust
from handraise.present.evidence import brought_in_words

SKILL = "---\nname: tidy\ndescription: Tidies up.\n---\nSweep first.\n"


def found(path: str, text: str) -> Found:
    return Found(path, "/work", path, text, sha256(text.encode()).hexdigest())


def look(**files: object) -> Repository:
    names = {"settings": ".claude/settings.json", "local": ".claude/settings.local.json", "mcp": ".mcp.json"}
    contents = {
        names.get(name, name): text if isinstance(text, str) else json.dumps(text) for name, text in files.items()
    }
    return Repository("/work", tuple(found(path, text) for path, text in contents.items()))


def trust(repository: Repository) -> Trust:
    body = brought.trust_of(repository)
    assert body is not None
    return body


def pieces(**files: object) -> list[tuple[str, str, str]]:
    return [(each.kind, each.name, each.text) for each in trust(look(**files)).brought]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"settings": {}},
        {"settings": "  "},
        {"settings": {"$schema": "https://example.org"}},
        {"mcp": {}},
        {"mcp": {"mcpServers": {}}},
        {".claude/skills/tidy/SKILL.md": SKILL},
        {".claude/commands/go.md": "Go on."},
        {".claude/hooks/unused.sh": "rm -rf x"},
    ],
)
def test_what_is_only_text_is_not_asked_about(files: dict[str, object]) -> None:
    assert brought.trust_of(look(**files)) is None


def test_each_hook_is_a_piece_with_its_whole_command() -> None:
    hooks = {
        "SessionStart": [{"hooks": [{"type": "command", "command": "a", "timeout": 5}]}],
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "b"}, {"type": "http", "url": "c"}]}
        ],
        "Stop": "odd",
        "PostToolUse": [{"hooks": [], "if": "x"}],
    }

    assert pieces(settings={"hooks": hooks}) == [
        ("hook", "SessionStart", "a"),
        ("hook", "PreToolUse (Bash)", "b"),
        ("hook", "PreToolUse (Bash)", '{\n  "type": "http",\n  "url": "c"\n}'),
        ("hook", "Stop", "odd"),
        ("hook", "PostToolUse", '{\n  "hooks": [],\n  "if": "x"\n}'),
    ]


def test_the_secret_of_a_hook_is_not_shown() -> None:
    hook = {"type": "http", "url": "u", "headers": {"Authorization": "Bearer secret", "X": "y"}, "timeout": 5}
    [(_, _, text)] = pieces(settings={"hooks": {"PermissionRequest": [{"hooks": [hook]}]}})
    assert json.loads(text) == {**hook, "headers": {"Authorization": "…", "X": "y"}}


def test_environment_permissions_helpers_plugins_and_the_rest_are_told_apart() -> None:
    settings = {
        "env": {"BASH_ENV": "./x.sh"},
        "permissions": {"allow": ["Bash", "Write"], "defaultMode": "acceptEdits"},
        "apiKeyHelper": "./key.sh",
        "statusLine": {"type": "command", "command": "x"},
        "enabledPlugins": {"bad@evil": True},
        "somethingNew": 7,
    }

    assert [(kind, name) for kind, name, _ in pieces(settings=settings)] == [
        ("environment", "BASH_ENV"),
        ("permission", "allow"),
        ("permission", "defaultMode"),
        ("helper", "apiKeyHelper"),
        ("helper", "statusLine"),
        ("plugin", "enabledPlugins"),
        ("setting", "somethingNew"),
    ]
    assert pieces(settings=settings)[1][2] == "Bash\nWrite"


@pytest.mark.parametrize("text", ["{", "[1]", "// a comment\n{}", "7"])
def test_settings_that_are_no_json_for_us_are_shown_whole(text: str) -> None:
    assert [piece[2] for piece in pieces(settings=text)] == [text]
    assert [piece[2] for piece in pieces(mcp=text)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: x\nhooks:\n  Stop: []\n---\n",
        "---\nallowed-tools: Bash\n---\n",
        "---\nname: x\n---\nRun !`id` now",
        "```!\nid\n```",
        "---\nname: x\n",
        "\ufeff---\nallowed-tools: Bash\n---\n",
        "--- \nallowed-tools: Bash\n---\n",
        "---\n? odd\n---\n",
    ],
)
def test_a_skill_that_is_more_than_text_is_asked_about(text: str) -> None:
    assert pieces(**{".claude/skills/x/SKILL.md": text}) == [("skill", "x", text)]
    assert pieces(**{".claude/commands/a/x.md": text}) == [("command", "a/x", text)]


def test_an_agent_and_a_workflow_are_always_asked_about() -> None:
    assert pieces(**{".claude/agents/a.md": "Be kind."}) == [("agent", "a", "Be kind.")]
    assert pieces(**{".claude/workflows/w.js": "x()"}) == [("command", "w", "x()")]


def test_every_byte_of_every_file_is_bound() -> None:
    settings = {"env": {"A": "1"}}
    first = trust(look(settings=settings, **{".claude/skills/tidy/SKILL.md": SKILL}))
    spaced = trust(look(settings=json.dumps(settings) + " ", **{".claude/skills/tidy/SKILL.md": SKILL}))
    text = trust(look(settings=settings, **{".claude/skills/tidy/SKILL.md": SKILL + "x"}))

    assert len({digest_of(each) for each in (first, spaced, text)}) == 3
    assert [each.name for each in first.brought] == ["A", "tidy"]


def test_files_that_commands_name_are_shown_with_them() -> None:
    repository = look(
        settings={"hooks": {"Stop": [{"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/x.sh; y|z'}]}]}},
        mcp={"mcpServers": {"a": {"command": "node", "args": ["./server.js"]}}},
    )

    words = brought.mentioned(repository)
    body = brought.trust_of(repository, [found("x.sh", "echo")])

    assert {"/work/x.sh", "y", "z", "./server.js"} <= {*words}
    assert body is not None
    assert (body.brought[-1].kind, body.brought[-1].path, body.brought[-1].text) == ("script", "x.sh", "echo")
    assert body.files["x.sh"]


def test_what_could_not_be_read_is_asked_about_and_named() -> None:
    hidden = Found(".mcp.json", "/work", ".mcp.json", None, problem="`.mcp.json` is not UTF-8 text.")

    body = trust(Repository("/work", (hidden,)))

    assert (body.brought, body.unreadable) == ((), ("`.mcp.json` is not UTF-8 text.",))


def test_what_would_run_in_place_of_every_command_cannot_be_trusted() -> None:
    body = trust(look(settings={"env": {"CLAUDE_CODE_SHELL_PREFIX": "./x", "A": "1"}}))

    assert body.unreadable == (
        "`.claude/settings.json` sets CLAUDE_CODE_SHELL_PREFIX, which would run in place of every command.",
    )


def test_text_that_claude_may_still_read_is_listed() -> None:
    repository = Repository(
        "/work",
        (
            found(".claude/skills/tidy/SKILL.md", SKILL),
            found(".claude/commands/go.md", "Go."),
            found(".mcp.json", "{}"),
        ),
        ("/CLAUDE.md",),
    )

    text = brought.reading_list(repository)

    assert text is not None
    assert "- /CLAUDE.md" in text
    assert "- tidy: Tidies up. (/work/.claude/skills/tidy/SKILL.md)" in text
    assert "- /go (/work/.claude/commands/go.md)" in text
    assert brought.reading_list(Repository("/work")) is None


def test_a_guard_that_would_be_switched_off_is_noticed() -> None:
    assert brought.disables_hooks(trust(look(settings={"disableAllHooks": True})))
    assert not brought.disables_hooks(trust(look(settings={"env": {"A": "1"}})))


def test_pieces_are_counted_in_words() -> None:
    body = trust(look(settings={"env": {"A": "1", "B": "2"}}, mcp={"mcpServers": {"a": {}}}))

    assert brought_in_words(body.brought) == "2 environment variables, 1 MCP server"
