"""A message as an e-mail: headers as the RFCs want them, whatever is in a title."""

from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.counterparts import MESSAGE
from handraise.channels.mails import mail, message_id, partly_refused, refused, refused_recipients
from handraise.channels.model import ChannelMessage

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)
HEADERS = {
    "From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "Auto-Submitted",
    "X-Auto-Response-Suppress", "MIME-Version", "Content-Type",
}  # fmt: skip


def mailed(message: ChannelMessage) -> EmailMessage:
    """As a mail program reads it."""
    content = mail(message, "hub@example.com", ["ana@example.com", "bo@example.com"], NOW).as_bytes()
    assert content.isascii()
    assert all(len(line) <= 998 for line in content.split(b"\r\n"))
    read = message_from_bytes(content, policy=policy.SMTP)
    assert isinstance(read, EmailMessage)
    assert not read.defects
    return read


def content_of(read: EmailMessage, kind: str) -> str:
    part = read.get_body((kind,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


def test_a_mail_has_the_whole_card_and_a_link() -> None:
    read = mailed(MESSAGE)
    assert set(read.keys()) == HEADERS
    assert str(read["From"]) == "Handraise <hub@example.com>"
    assert str(read["To"]) == "ana@example.com, bo@example.com"
    assert str(read["Date"]) == "Wed, 18 Nov 2026 09:00:00 +0000"
    assert read["Auto-Submitted"] == "auto-generated"
    assert content_of(read, "plain") == "Run the tests?\n\nnpm test\n\nhttps://hub.example/asks/a_1\n"
    assert '<a href="https://hub.example/asks/a_1">Open in Handraise</a>' in content_of(read, "html")


def test_mails_of_a_session_are_one_thread() -> None:
    first, second = mailed(MESSAGE), mailed(msgspec.structs.replace(MESSAGE, id="n_2"))
    assert first["References"] == second["References"] == second["In-Reply-To"] == "<thread-s_1@example.com>"
    assert (first["Message-ID"], second["Message-ID"]) == ("<n_1@example.com>", "<n_2@example.com>")
    assert mailed(msgspec.structs.replace(MESSAGE, thread=""))["References"] is None


def test_an_urgent_mail_says_so() -> None:
    assert mailed(msgspec.structs.replace(MESSAGE, urgency="high"))["Importance"] == "high"


def test_what_claude_wrote_is_text_in_the_html_too() -> None:
    hostile = '</pre><script>alert("1")</script><img src=x onerror=y>'
    html = content_of(mailed(ChannelMessage("n_1", hostile, hostile, "https://hub.example/?a=1&b='2'")), "html")
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="https://hub.example/?a=1&amp;b=&#x27;2&#x27;"' in html


@given(st.text(st.characters(), max_size=300), st.text(st.characters(), max_size=60))
def test_no_text_adds_a_header(text: str, name: str) -> None:
    read = mailed(ChannelMessage(name, text, text, text, thread=name))
    assert set(read.keys()) <= HEADERS
    assert len(read.get_all("Subject") or []) == 1
    assert len(str(read["Subject"]).splitlines()) <= 1


@pytest.mark.parametrize("title", ["ä" * 300, "🙋" * 100, "a" * 600, "x " * 300, "=?utf-8?q?=0D=0ABcc:_x?="])
def test_a_long_title_is_folded(title: str) -> None:
    assert len(str(mailed(ChannelMessage("n_1", title, "", ""))["Subject"]).encode()) <= 250


@pytest.mark.parametrize("stable", ["a b", "<x>", "a@b", "", "é", "x" * 100, "a\r\nBcc: x", "\udc00"])
def test_an_id_is_always_a_message_id(stable: str) -> None:
    made = message_id(stable, "example.com")
    assert made == message_id(stable, "example.com")
    assert made.endswith("@example.com>")
    assert made.isascii()
    assert not set(made[1:-1]) & set(" <>\r\n")


@pytest.mark.parametrize(
    ("code", "step", "permanent", "words"),
    [
        (535, "login", True, "app password"),
        (454, "login", False, "at the moment"),
        (553, "sender", True, "may send from"),
        (451, "sender", False, "at the moment"),
        (554, "message", True, "refused the e-mail"),
        (552, "message", True, "refused the e-mail"),
        (421, "message", False, "at the moment"),
        (-1, "message", False, "at the moment"),
    ],
)
def test_a_refusal_is_a_sentence(code: int, step: str, permanent: bool, words: str) -> None:
    error = refused(code, "smtp.example.com", step=step)
    assert words in error.sentence
    assert error.permanent == permanent


def test_recipients_are_named_when_they_are_refused() -> None:
    both = {"ana@example.com": 550, "bo@example.com": 450}
    assert not refused_recipients(both, "smtp.example.com").permanent
    assert refused_recipients({"ana@example.com": 550}, "smtp.example.com").permanent
    assert "ana@example.com" in partly_refused(both, "smtp.example.com")
    assert partly_refused({}, "smtp.example.com") == ""
