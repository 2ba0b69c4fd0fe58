"""Sends over one of Apprise's services, one way. Never retries, and lets no part of the URL into an error or a log."""

import asyncio
import logging
import threading
from importlib.util import find_spec
from typing import Protocol

from handraise.channels.apprise_messages import body_of, failure, is_unsent, read_status, title_of
from handraise.channels.apprise_services import is_allowed, read_schema, unusable_options
from handraise.channels.config import ChannelConfig, ChannelSecrets
from handraise.channels.confined import Confinement
from handraise.channels.model import ChannelError, ChannelMessage, ChannelReceipt, Urgency
from handraise.channels.threads import in_thread
from handraise.texts import t

DEADLINE = 15.0
_CONNECT_SECONDS = 5.0
_READ_SECONDS = 8.0
_APPRISE = "apprise"
_LOGGERS = (
    _APPRISE,
    "charset_normalizer",
    "oauthlib",
    "requests_oauthlib",
    "urllib3",
    "urllib3.connection",
    "urllib3.connectionpool",
    "urllib3.util.retry",
)
_TYPES: dict[Urgency, str] = {"low": "info", "normal": "info", "high": "warning"}


class AppriseChannel:
    """One service. Raises ChannelError if Apprise isn't installed."""

    def __init__(
        self, config: ChannelConfig, secrets: ChannelSecrets, *, private: bool = False, deadline: float = DEADLINE
    ) -> None:
        if find_spec("apprise") is None:
            raise ChannelError(t("channels.apprise.missing"), permanent=True)
        self._service = config.fields["service"]
        self._url = secrets.get("url")
        self._private = private
        self._deadline = deadline

    def __repr__(self) -> str:
        return f"AppriseChannel({self._service!r})"

    def describe(self) -> str:
        return t("channels.apprise.describe", service=self._service)

    async def send(self, message: ChannelMessage) -> ChannelReceipt:
        await self._run(message)
        return ChannelReceipt("")

    async def retract(self, receipt: ChannelReceipt, message: ChannelMessage) -> bool:  # noqa: ARG002 (one way)
        return False

    async def probe(self) -> str:
        """Only whether Apprise can read the URL: its services have no way to try more without a message."""
        await self._run(None)
        return t("channels.apprise.readable", service=self._service)

    async def _run(self, message: ChannelMessage | None) -> None:
        confinement = Confinement(private=self._private)
        # Slow the first time, and without a network: it doesn't count.
        await in_thread(_load)
        try:
            async with asyncio.timeout(self._deadline):
                error = await in_thread(lambda: self._work(message, confinement))
        except TimeoutError:
            error = ChannelError(
                t("channels.apprise.timeout", service=self._service),
                permanent=False,
                maybe_sent=confinement.has_connected,
            )
        finally:
            confinement.abandon()
        if error is not None:
            # Outside of an `except`: nothing of Apprise's errors, which may have the URL, hangs on to this one.
            raise error

    def _work(self, message: ChannelMessage | None, confinement: Confinement) -> ChannelError | None:
        """In a thread. Apprise has over a hundred services, so nobody knows what they raise."""
        if not is_allowed(read_schema(self._url) or "") or unusable_options(self._url):
            return self._unreadable()
        heard = _listen()
        try:
            with confinement.entered():
                target = _target(self._url)
                if target is None:
                    return self._unreadable()
                sent = message is None or _send(target, message)
        except Exception:
            # Foreign code may raise anything. The text may have the URL, so nothing of it is kept.
            sent = False
        finally:
            _thread.heard = None
        if sent:
            return None
        if heard.status is None and confinement.limit is not None:
            return ChannelError(t(f"channels.apprise.limit.{confinement.limit}", service=self._service), permanent=True)
        maybe_sent = confinement.has_connected and not heard.is_unsent
        return failure(self._service, heard.status, maybe_sent=maybe_sent)

    def _unreadable(self) -> ChannelError:
        return ChannelError(t("channels.apprise.unreadable", service=self._service), permanent=True)


class _Target(Protocol):
    """What we use of an object of Apprise."""

    title_maxlen: int
    body_maxlen: int
    socket_connect_timeout: float
    socket_read_timeout: float
    overflow_mode: object

    def notify(self, *, body: str, title: str, notify_type: str, body_format: str) -> bool: ...


def _load() -> None:
    """Imports Apprise and all its services, which reads files and compiles them."""
    from apprise.manager_plugins import NotificationManager  # noqa: PLC0415 (takes a second: only in the thread)

    NotificationManager().schemas()


def _target(url: str) -> _Target | None:
    """Apprise's own object for a URL; None if Apprise can't read it. Connects to nothing."""
    import apprise  # noqa: PLC0415 (see above)

    asset = apprise.AppriseAsset(
        app_id="Handraise",
        app_desc="Handraise",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
        secure_logging=True,
        storage_mode=apprise.PersistentStoreMode.MEMORY,
    )
    target: _Target | None = apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)
    if target is not None:
        target.socket_connect_timeout = _CONNECT_SECONDS
        target.socket_read_timeout = _READ_SECONDS
        target.overflow_mode = apprise.OverflowMode.TRUNCATE
    return target


def _send(target: _Target, message: ChannelMessage) -> bool:
    title = title_of(message, target.title_maxlen)
    # A service without titles gets it as the first line of the text.
    room = target.body_maxlen - (0 if target.title_maxlen else len(title.encode()) + 2)
    return bool(
        target.notify(body=body_of(message, room), title=title, notify_type=_TYPES[message.urgency], body_format="text")
    )


class _Heard:
    """What Apprise logged in one call, as far as we use it."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.is_unsent = False

    def hear(self, line: str) -> None:
        self.is_unsent = self.is_unsent or is_unsent(line)
        self.status = read_status(line) or self.status


class _Thread(threading.local):
    heard: _Heard | None = None


class _QuietFilter(logging.Filter):
    """Keeps the lines of our threads out of every log: URLs and answers are in them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _thread.heard is None:
            return True
        if record.name == _APPRISE:
            _thread.heard.hear(record.getMessage())
        return False


_thread = _Thread()
_quiet = _QuietFilter()


def _listen() -> _Heard:
    """What Apprise logs in this thread from now on."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_quiet)
    # Otherwise it wouldn't log what we read.
    logging.getLogger(_APPRISE).setLevel(logging.DEBUG)
    _thread.heard = _Heard()
    return _thread.heard
