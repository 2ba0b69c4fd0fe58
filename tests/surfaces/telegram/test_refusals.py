"""What Telegram's refusals mean."""

from typing import Any

import pytest

from handraise.surfaces.telegram.formatted import Entity, Formatted, bold
from handraise.surfaces.telegram.outgoing import (
    Blocked,
    Button,
    ChatPlace,
    CreateTopic,
    DeleteMessage,
    EditText,
    Gone,
    Migrated,
    SendDraft,
    SendFile,
    SendText,
    Sent,
    Undeliverable,
)
from handraise.surfaces.telegram.refusals import Instead, Retry, Wait, judge, without_quotes

PLACE = ChatPlace(1001)
LINKED = ((Button("Open", url="http://localhost"), Button("Yes", "id1")), (Button("More", url="http://x"),))
SEND = SendText(PLACE, bold("hi"), LINKED)
EDIT = EditText(PLACE, 7, bold("hi"))
FILE = SendFile(PLACE, "a.png", b"x", bold("hi"), photo=True)


@pytest.mark.parametrize(
    ("outgoing", "code", "description", "verdict"),
    [
        (SEND, 429, "Too Many Requests: retry after 5", Wait(None)),
        (SEND, 500, "Internal Server Error", Retry("Internal Server Error")),
        (SEND, 502, "", Retry("502")),
        (SEND, 400, "", Retry("400")),
        (SEND, 401, "Unauthorized", Retry("Unauthorized")),
        (SEND, 404, "Not Found", Retry("Not Found")),
        (FILE, 413, "", Undeliverable("too large")),
        (FILE, 413, "Request Entity Too Large", Undeliverable("Request Entity Too Large")),
        (SEND, 403, "Forbidden: user is deactivated", Blocked("Forbidden: user is deactivated")),
        (SEND, 400, "Bad Request: chat not found", Blocked("Bad Request: chat not found")),
        (SEND, 400, "Bad Request: TOPIC_CLOSED", Blocked("Bad Request: TOPIC_CLOSED")),
        (
            CreateTopic(PLACE, "x"),
            400,
            "Bad Request: not enough rights to create a topic",
            Blocked("Bad Request: not enough rights to create a topic"),
        ),
        (EDIT, 400, "Bad Request: message is not modified: specified new message content", Sent(7)),
        (EDIT, 400, "Bad Request: message to edit not found", Gone()),
        (EDIT, 400, "Bad Request: MESSAGE_ID_INVALID", Gone()),
        (DeleteMessage(PLACE, 7), 400, "Bad Request: message can't be deleted for everyone", Gone()),
        (EDIT, 400, "Bad Request: can't parse entities: x", Instead(EditText(PLACE, 7, Formatted("hi")))),
        (SEND, 400, "Bad Request: ENTITY_BOUNDS_INVALID", Instead(SendText(PLACE, Formatted("hi"), LINKED))),
        (
            SendDraft(PLACE, 1, bold("hi")),
            400,
            "Bad Request: can't parse entities",
            Instead(SendDraft(PLACE, 1, Formatted("hi"))),
        ),
        (
            FILE,
            400,
            "Bad Request: can't parse entities",
            Instead(SendFile(PLACE, "a.png", b"x", Formatted("hi"), photo=True)),
        ),
        (FILE, 400, "Bad Request: PHOTO_INVALID_DIMENSIONS", Instead(SendFile(PLACE, "a.png", b"x", bold("hi")))),
        (
            SEND,
            400,
            "Bad Request: inline keyboard button URL 'x' is invalid",
            Instead(SendText(PLACE, bold("hi"), ((Button("Yes", "id1"),),))),
        ),
        (
            SEND,
            400,
            "Bad Request: BUTTON_URL_INVALID",
            Instead(SendText(PLACE, bold("hi"), ((Button("Yes", "id1"),),))),
        ),
        (
            SendText(PLACE, Formatted("hi")),
            400,
            "Bad Request: can't parse entities",
            Undeliverable("Bad Request: can't parse entities"),
        ),
        (
            FILE,
            400,
            "Bad Request: not enough rights to send photos to the chat",
            Instead(SendFile(PLACE, "a.png", b"x", bold("hi"))),
        ),
        (
            SendFile(PLACE, "a.txt", b"x"),
            400,
            "Bad Request: CHAT_SEND_DOCS_FORBIDDEN",
            Undeliverable("Bad Request: CHAT_SEND_DOCS_FORBIDDEN"),
        ),
        (
            SEND,
            400,
            "Bad Request: not enough rights to send text messages to the chat",
            Blocked("Bad Request: not enough rights to send text messages to the chat"),
        ),
        (SEND, 400, "Bad Request: something new", Undeliverable("Bad Request: something new")),
    ],
)
def test_a_refusal_has_a_meaning(outgoing: Any, code: int, description: str, verdict: object) -> None:
    assert judge(outgoing, code, description, None, None) == verdict


def test_a_pause_and_a_new_number_are_passed_on() -> None:
    assert judge(SEND, 429, "Too Many Requests", 7.0, None) == Wait(7.0)
    assert judge(SEND, 400, "Bad Request: group chat was upgraded", None, -100) == Migrated(-100)


def test_what_is_sent_instead_gets_simpler_until_it_is_undeliverable() -> None:
    outgoing: Any = SendText(PLACE, Formatted("hi", (Entity("bold", 0, 9),)), LINKED)
    for text in ("can't parse entities", "BUTTON_URL_INVALID"):
        verdict = judge(outgoing, 400, text, None, None)
        assert isinstance(verdict, Instead)
        outgoing = verdict.outgoing
    for text in ("can't parse entities", "BUTTON_URL_INVALID"):
        assert isinstance(judge(outgoing, 400, text, None, None), Undeliverable)


@pytest.mark.parametrize(
    ("reason", "logged"),
    [
        ("Forbidden: bot was blocked by the user", "Forbidden: bot was blocked by the user"),
        (
            "Bad Request: inline keyboard button URL 'http://x/secret' is invalid",
            "Bad Request: inline keyboard button URL",
        ),
        (
            'Bad Request: can\'t parse entities: unsupported start tag "secret"',
            "Bad Request: can't parse entities: unsupported start tag",
        ),
        ("Bad Request: wrong URL https://x/secret", "Bad Request: wrong URL"),
        ("", ""),
    ],
)
def test_what_telegram_quotes_is_not_logged(reason: str, logged: str) -> None:
    assert without_quotes(reason) == logged
