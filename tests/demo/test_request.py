import pytest

from demo.requests import REMINDER, assistant, image, request, tool_result, tool_use, user
from handraise.demo import Conversation, Request, SentImage, ToolOutcome


def test_the_first_request_tells_what_the_person_said_without_the_reminders() -> None:
    contents = Conversation.read(request(user(REMINDER, "hello there"), {"role": "system", "content": "# Environment"}))

    assert contents.text == "hello there"
    assert contents.asides == (REMINDER,)


def test_a_reminder_inside_what_was_said_is_taken_out_and_kept() -> None:
    contents = Conversation.read(request(user("before <system-reminder>psst</system-reminder> after")))

    assert contents.text == "before  after"
    assert contents.asides == ("<system-reminder>psst</system-reminder>",)


def test_only_what_follows_the_last_reply_is_new() -> None:
    contents = Conversation.read(request(user("one"), assistant("yes?"), user("two"), user("three")))

    assert contents.text == "two\nthree"


def test_results_come_in_the_order_of_the_calls() -> None:
    contents = Conversation.read(
        request(
            user("go"),
            assistant(tool_use("a"), tool_use("b")),
            user(tool_result("b", "second"), tool_result("a", [{"type": "text", "text": "first"}], is_error=True)),
        )
    )

    assert contents.results == (ToolOutcome("a", "first", is_error=True), ToolOutcome("b", "second", is_error=False))
    assert contents.result(1).text == "second"


def test_a_result_of_an_unknown_call_is_kept_at_the_end() -> None:
    contents = Conversation.read(request(assistant(tool_use("a")), user(tool_result("x", "?"), tool_result("a", "!"))))

    assert [result.tool_use_id for result in contents.results] == ["a", "x"]


def test_images_are_told_apart_from_text_and_from_those_in_results() -> None:
    contents = Conversation.read(
        request(user("look", image("aaaa"), tool_result("t", [image("bbbb")]), "[Image: source: /x.png]"))
    )

    assert contents.text == "look"
    assert contents.images == (SentImage("image/png", "aaaa"),)
    assert contents.result().images == (SentImage("image/png", "bbbb"),)


def test_the_directory_and_the_plan_file_are_read_from_what_claude_says_of_its_surroundings() -> None:
    surroundings = "# Environment\n - Primary working directory: /home/me/my code\n - Platform: linux"
    plan = "You should create your plan at /home/me/.claude/plans/go-zazzy-reef.md using the Write tool."

    contents = Conversation.read(request(user("hi"), {"role": "system", "content": f"{surroundings}\n{plan}"}))

    assert contents.directory == "/home/me/my code"
    assert contents.plan_file == "/home/me/.claude/plans/go-zazzy-reef.md"


def test_without_surroundings_there_is_no_plan_file_and_the_directory_is_here() -> None:
    contents = Conversation.read(request(user("hi")))

    assert (contents.directory, contents.plan_file) == (".", "")


def test_the_system_prompt_and_the_tools_are_told() -> None:
    contents = Conversation.read(request(user("hi"), system=[{"type": "text", "text": "You are Claude."}]))

    assert contents.system == "You are Claude."
    assert contents.tools == ("Agent", "Bash")


@pytest.mark.parametrize(
    "aside",
    [
        request(user("a title, please"), tools=[]),
        request(user("quota"), max_tokens=1),
        request(user("hi"), assistant("ho"), {"role": "user", "content": "CRITICAL: Respond with TEXT ONLY. Do NOT…"}),
    ],
    ids=["no tools", "quota probe", "compaction"],
)
def test_a_request_beside_the_conversation_is_known(aside: Request) -> None:
    assert aside.is_side


def test_a_step_of_the_conversation_is_not_taken_for_an_aside() -> None:
    assert not request(user("hi")).is_side
    assert not request().is_side


def test_a_sub_agent_is_known_by_its_header_or_by_its_system_prompt() -> None:
    billing = [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.325.c1d; cc_is_subagent=true;"}]

    assert request(user("look"), agent="a1").is_subagent
    assert request(user("look"), system=billing).is_subagent
    assert not request(user("look")).is_subagent


def test_a_repetition_has_the_same_identity_however_it_was_retuned() -> None:
    first = request(user("hi"), max_tokens=128_000)
    marked = user({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}})

    assert request(marked, max_tokens=64_000, stream=False).identity == first.identity
    assert request(user("hi"), user("more")).identity != first.identity
    assert Request(first.body, session="another").identity != first.identity


def test_a_lone_surrogate_is_read() -> None:
    read = Request.read(rb'{"messages":[{"role":"user","content":"\ud83d"}],"tools":[{"name":"Bash"}]}', {})

    assert Conversation.read(read).text == "\ud83d"
    assert read.identity


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON object"):
        Request.read(b"[]", {})
