from demo.requests import assistant, request, user
from handraise.demo import Conversation, Script, agent, say, use
from handraise.demo.pieces import SayPiece
from handraise.demo.reply import Reply, SpokenReply
from handraise.demo.run_script import KEPT_REQUESTS, SIDE_REPLY, RunScript


def texts_of(reply: Reply) -> list[str]:
    assert isinstance(reply, SpokenReply)
    return [piece.text for piece in reply.pieces if isinstance(piece, SayPiece)]


def scout(conversation: Conversation) -> Script:
    conversation = yield [say(f"looking: {conversation.text}"), use("Bash", command="ls")]
    yield [say("seen")]


def lead(conversation: Conversation) -> Script:
    yield [agent("north", "Look north", scout), agent("south", "Look south", scout)]
    yield [say("Done.")]


def test_a_side_request_moves_no_script() -> None:
    part = RunScript("scout/1", scout)

    assert texts_of(part.reply_to(request(user("a title, please"), tools=[]))) == [SIDE_REPLY]
    assert texts_of(part.reply_to(request(user("hi")))) == ["looking: hi"]


def test_sub_agents_play_their_own_scripts_side_by_side() -> None:
    part = RunScript("lead/1", lead)
    part.reply_to(request(user("go")))

    assert texts_of(part.reply_to(request(user("Look south"), agent="a2"))) == ["looking: Look south"]
    assert texts_of(part.reply_to(request(user("Look north"), agent="a1"))) == ["looking: Look north"]
    assert texts_of(part.reply_to(request(user("Look south"), assistant("…"), user("x"), agent="a2"))) == ["seen"]
    assert texts_of(part.reply_to(request(user("go"), assistant("…"), user("x")))) == ["Done."]
    assert part.errors == []


def test_sub_agents_with_the_same_prompt_are_told_apart_by_their_id() -> None:
    def twins(conversation: Conversation) -> Script:
        yield [agent("one", "Look", scout), agent("two", "Look", scout)]

    part = RunScript("twins/1", twins)
    part.reply_to(request(user("go")))

    replies = [part.reply_to(request(user("Look"), agent=name)) for name in ("a1", "a2")]
    assert [texts_of(reply) for reply in replies] == [["looking: Look"], ["looking: Look"]]
    assert replies[0] != replies[1], "each has tool ids of its own"


def test_a_sub_agent_may_call_a_sub_agent() -> None:
    def nested(conversation: Conversation) -> Script:
        yield [agent("lead", "Lead", lead)]

    part = RunScript("nested/1", nested)
    part.reply_to(request(user("go")))
    part.reply_to(request(user("Lead"), agent="a1"))

    assert texts_of(part.reply_to(request(user("Look north"), agent="a2"))) == ["looking: Look north"]


def test_a_sub_agent_nobody_called_is_answered_and_kept_as_an_error() -> None:
    part = RunScript("lead/1", lead)

    assert texts_of(part.reply_to(request(user("Who am I?"), agent="a9"))) == ["No script called this sub-agent."]
    assert part.errors == ["lead/1: no script called a sub-agent with the prompt 'Who am I?'"]


def test_a_resumed_conversation_goes_on_with_the_same_script() -> None:
    part = RunScript("scout/1", scout)
    part.reply_to(request(user("hi")))

    assert texts_of(part.reply_to(request(user("a summary of it all"), user("go on")))) == ["seen"]


def test_only_the_last_requests_are_kept() -> None:
    part = RunScript("scout/1", scout)
    for number in range(KEPT_REQUESTS + 5):
        part.reply_to(request(user(str(number))))

    assert len(part.requests) == KEPT_REQUESTS
    assert part.requests[0].opening == "5"
