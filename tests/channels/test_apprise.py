"""The Apprise client: its own JSON target on loopback, and what its URLs may not do."""

import asyncio
import logging
import sys
from pathlib import Path
from subprocess import run

import pytest

from channels.counterparts import MESSAGE, SECRET, channel
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.channels.apprise_channel import AppriseChannel, _load, _send, _target
from handraise.channels.apprise_messages import MOST_TEXT, body_of, failure, is_unsent, read_status, title_of
from handraise.channels.config import ChannelConfig, ChannelSecrets
from handraise.channels.confined import Confinement
from handraise.channels.model import ChannelError, ChannelMessage


def apprise(url: str) -> AppriseChannel:
    """Past the check of what was typed: the channel checks again."""
    config = ChannelConfig("c_1", "Other", "apprise", {"service": url.partition(":")[0]})
    return AppriseChannel(config, ChannelSecrets({"url": url}), private=True)


async def test_a_redirect_is_not_followed() -> None:
    async with ntfy_server(NtfyServer()) as aim, ntfy_server(NtfyServer()) as server:
        server.answer = (307, {"location": f"http://127.0.0.1:{aim.port}/"}, b"")
        with pytest.raises(ChannelError):
            await channel("apprise", {"url": f"json://127.0.0.1:{server.port}"}).send(MESSAGE)
        assert aim.requests == []
        assert len(server.requests) == 1


@pytest.mark.parametrize("url", ["exec://x", "syslog://", "json://127.0.0.1:9/?retry=3", "json://", "slack://A"])
async def test_a_url_that_is_not_allowed_or_not_readable_is_not_quoted(url: str) -> None:
    for work in (apprise(url).probe(), apprise(url).send(MESSAGE)):
        with pytest.raises(ChannelError, match="can't read the URL") as caught:
            await work
        assert caught.value.permanent
        assert url not in caught.value.sentence


async def test_a_service_that_reads_a_file_is_stopped_even_if_its_option_is_not_refused(tmp_path: Path) -> None:
    template = tmp_path / "template.json"
    template.write_text('{"text": "own"}')

    def work(url: str, confinement: Confinement) -> bool:
        _load()
        with confinement.entered():
            target = _target(url)
            return target is not None and _send(target, MESSAGE)

    async with ntfy_server(NtfyServer()) as server:
        url = f"workflow://127.0.0.1:{server.port}/flow/signature?template={template}"
        confinement = Confinement(private=True)
        assert not await asyncio.to_thread(work, url, confinement)
        assert server.requests == []
    assert confinement.limit == "local"


async def test_nothing_of_a_url_is_logged_at_any_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("apprise", "urllib3", "urllib3.connectionpool"):
        caplog.set_level(logging.DEBUG, name)
    async with ntfy_server(NtfyServer()) as server:
        for status in (200, 400, 401, 500):
            server.answer = (status, {}, SECRET.encode())
            made = channel("apprise", {"url": f"json://u:{SECRET}@127.0.0.1:{server.port}/{SECRET}?-x={SECRET}"})
            if status == 200:
                await made.send(MESSAGE)
            else:
                with pytest.raises(ChannelError):
                    await made.send(MESSAGE)
    assert not [each for each in caplog.records if SECRET in each.getMessage()]
    assert not [each for each in caplog.records if each.name.startswith(("apprise", "urllib3"))]


def test_without_the_extra_a_sentence_says_how_to_install_it() -> None:
    script = (
        "import sys; sys.modules['apprise'] = None\n"
        "from handraise.channels.config import check, connect\n"
        "made = check('c', 'n', 'apprise', {'url': 'slack://A/B/C'})\n"
        "try:\n    connect(made.config, made.secrets)\n"
        "except Exception as error:\n    print(error, error.permanent)\n"
    )
    printed = run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "handraise[apprise]" in printed
    assert "True" in printed


@pytest.mark.parametrize("most", [0, 10, 60, 200, 100_000])
def test_the_link_is_never_cut(most: int) -> None:
    body = body_of(ChannelMessage("n_1", "Title", "ä" * 9000, MESSAGE.link), most)
    assert body.endswith(MESSAGE.link)
    assert len(body.encode()) <= max(min(most, MOST_TEXT), len(MESSAGE.link))


def test_a_title_fits_where_a_service_shows_it() -> None:
    assert len(title_of(ChannelMessage("n_1", "x" * 900, "", ""), 50)) <= 50
    assert title_of(ChannelMessage("n_1", " ", "", ""), 0) == "Handraise"


@pytest.mark.parametrize(
    ("line", "status"),
    [("Failed to send: Unauthorized, error=401.", 401), ("error = 503", 503), ("error=4012", None), ("it works", None)],
)
def test_only_a_status_is_read_of_a_log(line: str, status: int | None) -> None:
    assert read_status(line) == status


def test_a_connection_that_was_never_made_sent_nothing() -> None:
    assert is_unsent("Socket Exception: Max retries exceeded (Caused by NewConnectionError())")
    assert not is_unsent("Socket Exception: Remote end closed connection without response")


@pytest.mark.parametrize(
    ("status", "permanent"), [(None, False), (401, True), (403, True), (404, True), (429, False), (502, False)]
)
def test_each_failure_is_temporary_or_not(status: int | None, permanent: bool) -> None:
    assert failure("slack", status, maybe_sent=False).permanent == permanent
