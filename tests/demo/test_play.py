from demo.requests import assistant, request, tool_result, tool_use, user
from handraise.demo import Conversation, Script, agent, cut, error, fail, hold, say, use, wait
from handraise.demo.pieces import SayPiece, Use
from handraise.demo.play import OVER, Play
from handraise.demo.reply import ErrorReply, Reply, SpokenReply

FIRST = request(user("hi"))
SECOND = request(user("hi"), assistant("…"), user("go on"))
THIRD = request(user("hi"), assistant("…"), user("go on"), assistant("…"), user("and on"))


def texts_of(reply: Reply) -> list[str]:
    assert isinstance(reply, SpokenReply)
    return [piece.text for piece in reply.pieces if isinstance(piece, SayPiece)]


def calls(reply: Reply) -> list[Use]:
    assert isinstance(reply, SpokenReply)
    return [piece for piece in reply.pieces if isinstance(piece, Use)]


def echo(conversation: Conversation) -> Script:
    conversation = yield [say(f"1: {conversation.text}")]
    yield [say(f"2: {conversation.text}")]


def test_a_script_hears_what_claude_told() -> None:
    play = Play("echo/1", echo)

    assert texts_of(play.reply_to(FIRST)) == ["1: hi"]
    assert texts_of(play.reply_to(SECOND)) == ["2: go on"]


def test_after_its_end_a_script_says_that_it_is_over() -> None:
    play = Play("echo/1", echo)
    replies = [play.reply_to(asked) for asked in (FIRST, SECOND, THIRD, FIRST)]

    assert [texts_of(reply) for reply in replies[2:]] == [[OVER], [OVER]]
    assert play.errors == []


def test_a_repeated_request_gets_the_same_reply_and_does_not_move_the_script() -> None:
    def script(conversation: Conversation) -> Script:
        yield [use("Bash", command="ls")]
        yield [say("two")]

    play = Play("script/1", script)
    first = play.reply_to(FIRST)

    assert play.reply_to(FIRST) is first
    assert texts_of(play.reply_to(SECOND)) == ["two"]


def test_a_repetition_after_a_reply_that_went_wrong_gets_the_next_one() -> None:
    def script(conversation: Conversation) -> Script:
        yield [fail(529, "overloaded_error")]
        yield [say("half"), cut()]
        yield [say("half"), error()]
        yield [say("whole")]

    play = Play("script/1", script)
    replies = [play.reply_to(FIRST) for _ in range(5)]

    assert isinstance(replies[0], ErrorReply)
    assert [texts_of(reply) for reply in replies[1:]] == [["half"], ["half"], ["whole"], ["whole"]]


def test_tool_ids_are_unique_and_the_same_in_every_run() -> None:
    def script(conversation: Conversation) -> Script:
        yield [use("Bash"), use("Bash"), agent("look", "Look", echo)]

    one, again, other = (Play(key, script).reply_to(FIRST) for key in ("script/1", "script/1", "script/2"))

    ids = [call.id for call in calls(one) + calls(other)]
    assert len(set(ids)) == 6
    assert all(name.startswith("toolu_") for name in ids)
    assert calls(one) == calls(again)


def test_a_sub_agent_is_a_tool_call_and_brings_its_script() -> None:
    def script(conversation: Conversation) -> Script:
        yield [agent("look", "Look around", echo)]

    reply = Play("script/1", script).reply_to(FIRST)

    (call,) = calls(reply)
    assert (call.tool, call.input["prompt"], call.input["run_in_background"]) == ("Agent", "Look around", False)
    assert isinstance(reply, SpokenReply)
    assert [(name, called.script) for name, called in reply.agents] == [(call.id, echo)]


def test_a_script_that_raises_is_loud_and_kept() -> None:
    def script(conversation: Conversation) -> Script:
        conversation = yield [use("Bash", command="ls")]
        yield [say(conversation.result(7).text)]

    play = Play("script/1", script)
    play.reply_to(FIRST)
    reply = play.reply_to(request(user("hi"), assistant(tool_use("a")), user(tool_result("a", "ok"))))

    assert texts_of(reply) == ["THE SCRIPT FAILED: IndexError: tuple index out of range"]
    (error,) = play.errors
    assert "conversation.result(7)" in error


def test_silence_may_come_before_a_failure_but_speech_may_not() -> None:
    def patient(conversation: Conversation) -> Script:
        yield [wait(1), hold("go"), fail(500, "api_error")]

    def hasty(conversation: Conversation) -> Script:
        yield [say("half"), fail(500, "api_error")]

    assert Play("patient/1", patient).reply_to(FIRST) == ErrorReply((wait(1), hold("go")), fail(500, "api_error"))
    play = Play("hasty/1", hasty)
    assert "cut() or error()" in texts_of(play.reply_to(FIRST))[0]
    assert play.errors
