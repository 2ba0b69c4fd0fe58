import json

from hypothesis import given
from hypothesis import strategies as st

from handraise.claude.command import Launch, command_line

ALWAYS = [
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--permission-prompt-tool=stdio",
    "--replay-user-messages",
]
ALONE = ["--setting-sources=user", "--strict-mcp-config", "--add-dir=/work"]


def line(**how: object) -> list[str]:
    return command_line("/bin/claude", Launch(directory="/work", session_id="s1", **how))  # type: ignore[arg-type]


def test_the_shortest_command_line_has_all_that_a_supervised_claude_needs() -> None:
    assert line() == ["/bin/claude", *ALWAYS, "--include-partial-messages", "--session-id=s1", *ALONE]


def test_nothing_of_a_directory_is_used_unless_it_is_trusted() -> None:
    theirs = line(mcp_servers={"ours": {"type": "sdk"}}, mcp_files=("/home/me/.claude.json",))
    trusted = line(trusted=True)
    switched_on = line(trusted=True, keeps_hooks=True)

    assert theirs[-4:] == [*ALONE[:2], "--mcp-config=/home/me/.claude.json", ALONE[2]]
    assert not {each.partition("=")[0] for each in trusted} & {"--setting-sources", "--strict-mcp-config", "--add-dir"}
    # What its files become while the session runs does not hold in it.
    (guard,) = [json.loads(each.partition("=")[2]) for each in trusted if each.startswith("--settings=")]
    assert guard["hooks"]["ConfigChange"][0]["hooks"] == [{"type": "command", "command": "exit 2"}]
    assert "disableAllHooks" not in guard
    assert '"disableAllHooks": false' in switched_on[-1]


def test_every_choice_has_its_flag() -> None:
    words = line(
        mode="plan",
        model="opus",
        mcp_servers={"handraise": {"type": "sdk", "name": "handraise", "alwaysLoad": True}},
        allowed_tools=("mcp__handraise__ask_user", "Bash(git log:*)"),
        append_system_prompt="Be brief.",
        add_dirs=("/a", "/b"),
        partial_messages=False,
    )
    assert words[:6] == ["/bin/claude", *ALWAYS]
    assert "--include-partial-messages" not in words
    servers = {"mcpServers": {"handraise": {"type": "sdk", "name": "handraise", "alwaysLoad": True}}}
    assert words[6:] == [
        "--session-id=s1",
        "--permission-mode=plan",
        "--model=opus",
        f"--mcp-config={json.dumps(servers)}",
        "--allowedTools=mcp__handraise__ask_user,Bash(git log:*)",
        "--append-system-prompt=Be brief.",
        "--add-dir=/a",
        "--add-dir=/b",
        *ALONE,
    ]


def test_a_conversation_is_begun_resumed_or_forked() -> None:
    def about_ids(words: list[str]) -> list[str]:
        return [word for word in words if word.startswith(("--session", "--resume", "--fork"))]

    assert about_ids(line()) == ["--session-id=s1"]
    assert about_ids(line(resume=True)) == ["--resume=s1"]
    assert about_ids(line(fork_of="s0")) == ["--resume=s0", "--fork-session", "--session-id=s1"]


@given(st.from_regex(r"-{1,2}[a-z-]{0,30}(=.*)?", fullmatch=True))
def test_no_value_passes_for_a_flag(value: str) -> None:  # lesson 15
    words = line(
        mode=value, model=value, append_system_prompt=value, add_dirs=(value,), allowed_tools=(value,), fork_of=value
    )
    flags = [word.partition("=")[0] for word in words[1:]]
    assert flags == [
        *[word.partition("=")[0] for word in ALWAYS],
        "--include-partial-messages",
        "--resume",
        "--fork-session",
        "--session-id",
        "--permission-mode",
        "--model",
        "--allowedTools",
        "--append-system-prompt",
        "--add-dir",
        *[word.partition("=")[0] for word in ALONE],
    ]


def test_nothing_that_a_person_says_has_a_place_on_the_command_line() -> None:  # lesson 15
    assert not {"prompt", "say", "message", "text"} & set(Launch.__struct_fields__)
    assert all(word.startswith("--") for word in line(mode="plan", add_dirs=("/a",))[1:])


def test_no_tool_is_allowed_unless_somebody_said_so() -> None:  # lesson 11
    assert not any("allowedTools" in word for word in line())
