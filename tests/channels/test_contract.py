"""What every channel promises, with a real counterpart on loopback for each kind."""

import asyncio
import gc
import logging
import traceback

import pytest

from channels.counterparts import MESSAGE, SECRET, Counterpart, Failure, channel, checked, closed_port, counterpart
from handraise.channels.config import connect
from handraise.channels.model import KINDS, ChannelError, ChannelKind, ChannelMessage, ChannelReceipt

HOSTILE = {
    "line breaks": "Hi\r\nBcc: eve@example.com\r\n\r\n.\r\nQUIT\nX-Evil: 1",
    "unicode line breaks": "Hi\u2028Bcc: eve@example.com\u2029\x85\x0b\x0cX: 1",
    "NUL and control": "a\x00b\x1b[31mc\x7f\x08",
    "lone surrogates": "a\ud83d b\udc00 \udfff",
    "right to left": "\u202egnp.exe\u2066\u200fabc\u2069",
    "a megabyte": "x" * 1_000_000,
    "a megabyte of emoji": "🙋" * 250_000,
    "a megabyte of quotes": '"\\\n' * 333_333,
    "markup": "<script>alert(1)</script> =?utf-8?q?x?= {{.x}} ${HOME} `id`",
    "nothing": "",
    "spaces": " \t \n ",
    "dots": "\n.\n..\n.\r\n",
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> ChannelKind:
    found: ChannelKind = request.param
    return found


def whole_text(error: BaseException) -> str:
    """Everything that a log could show of an error, with what hangs on to it."""
    return "".join(traceback.format_exception(error)) + repr(error.__dict__)


async def failed(kind: ChannelKind, other: Counterpart | dict[str, str], **terms: object) -> ChannelError:
    with pytest.raises(ChannelError) as caught:
        await channel(kind, other, **terms).send(MESSAGE)  # type: ignore[arg-type]
    error = caught.value
    assert SECRET not in whole_text(error)
    assert error.sentence == str(error)
    assert error.sentence.endswith(".")
    assert error.__cause__ is None
    return error


async def test_a_message_arrives_once_with_its_link(kind: ChannelKind, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with counterpart(kind) as other:
        receipt = await channel(kind, other).send(MESSAGE)
        (arrived,) = other.arrived()
        assert other.attempts() == 1
    assert arrived.title == MESSAGE.title
    assert "npm test" in arrived.text
    assert "https://hub.example/asks/a_1" in arrived.text
    assert receipt.warning == ""
    assert SECRET not in repr(receipt)
    # aiosmtpd, the other end, logs what it receives.
    ours = [each.getMessage() for each in caplog.records if each.name != "mail.log"]
    assert not [each for each in ours if SECRET in each or "one-use" in each]


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_text_arrives_harmless(kind: ChannelKind, hostile: str) -> None:
    message = ChannelMessage(hostile, hostile, hostile, MESSAGE.link, thread=hostile)
    async with counterpart(kind) as other:
        await channel(kind, other).send(message)
        (arrived,) = other.arrived()
        assert other.attempts() == 1
    assert len(arrived.title.splitlines()) <= 1
    assert MESSAGE.link in arrived.text
    for hidden in "\x00\x1b\u202e\u2066\ud83d\u2028\x0b":
        assert hidden not in arrived.title
        assert hidden not in arrived.text
    assert len(arrived.title.encode()) <= 250
    assert len(arrived.text) <= 210_000


@pytest.mark.parametrize("link", ["javascript:alert(1)", "https://x\r\nX: 1", "file:///etc/passwd", "", "https://é/"])
async def test_a_link_that_no_phone_should_open_is_left_out(kind: ChannelKind, link: str) -> None:
    async with counterpart(kind) as other:
        await channel(kind, other).send(ChannelMessage("n_1", "Title", "Text", link))
        assert other.arrived()[0].text.strip() == "Text"


@pytest.mark.parametrize(
    ("how", "permanent"), [("unauthorized", True), ("refused", True), ("busy", False), ("cut", False)]
)
async def test_a_failure_is_a_sentence_and_says_whether_another_attempt_makes_sense(
    kind: ChannelKind, how: Failure, permanent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with counterpart(kind) as other:
        other.fail(how)
        error = await failed(kind, other)
        assert other.attempts() == 1, "a channel never retries"
    assert error.permanent == permanent
    assert error.maybe_sent == (how == "cut")
    assert not [each for each in caplog.records if each.name != "mail.log" and SECRET in each.getMessage()]


async def test_nobody_at_the_other_end_is_temporary(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        other.port = await closed_port()
        error = await failed(kind, other)
    assert (error.permanent, error.maybe_sent) == (False, False)
    assert "reached" in error.sentence


async def test_a_silent_server_takes_no_longer_than_the_deadline(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        other.hang()
        error = await failed(kind, other, deadline=0.5)
    assert not error.permanent
    assert "in time" in error.sentence


async def test_a_send_can_be_canceled(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        other.hang()
        task = asyncio.create_task(channel(kind, other, deadline=60).send(MESSAGE))
        while not other.attempts():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    gc.collect()


async def test_a_private_address_is_never_reached_unless_the_hub_allows_it(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        error = await failed(kind, other, private=False)
        assert other.attempts() == 0
    assert error.permanent
    assert "private_addresses" in error.sentence


async def test_a_probe_sends_nothing(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        sentence = await channel(kind, other).probe()
        assert kind == "apprise" or not other.arrived()
        assert kind != "apprise" or other.attempts() == 0
    assert sentence.endswith(".")
    assert SECRET not in sentence


@pytest.mark.parametrize("kind", ["ntfy", "email"])  # the services of Apprise can't be tried without a message
async def test_a_probe_finds_a_wrong_sign_in(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        other.fail("unauthorized")
        with pytest.raises(ChannelError, match="refused the sign-in") as caught:
            await channel(kind, other).probe()
    assert caught.value.permanent
    assert SECRET not in whole_text(caught.value)


async def test_only_ntfy_takes_back(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        made = channel(kind, other)
        receipt = await made.send(MESSAGE)
        assert await made.retract(receipt, MESSAGE) == (kind == "ntfy")
        assert not await made.retract(ChannelReceipt("something else"), MESSAGE)


def test_a_channel_is_described_without_secrets(kind: ChannelKind) -> None:
    other = {
        "ntfy": {"topic": "shop-alerts", "token": SECRET},
        "email": {
            "host": "smtp.example.com",
            "user": "ana",
            "password": SECRET,
            "sender": "hub@example.com",
            "recipients": "bo@example.com",
        },
        "apprise": {"url": f"slack://{SECRET}/B/C"},
    }[kind]
    made = checked(kind, other, private=False)
    opened = connect(made.config, made.secrets)
    assert SECRET not in opened.describe() + repr(opened)
    assert "shop-alerts" not in opened.describe() + repr(opened)
