"""Calls Telegram's Bot API, one request at a time, for setup and checks. Shows the token nowhere, not in errors."""

import json
import time
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

_LARGEST = 4 * 1024 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class TelegramError(Exception):
    """Telegram could not be asked, or did not do it."""


class TelegramUnreachable(TelegramError):
    """No answer that Telegram's Bot API would give. The text says why."""


class TelegramRefused(TelegramError):
    """Telegram said no. `code` is like an HTTP status; `reason` is Telegram's own."""

    def __init__(self, code: int, reason: str, parameters: dict[str, Any]) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.retry_after: int | None = parameters.get("retry_after")
        self.migrated_to: int | None = parameters.get("migrate_to_chat_id")

    @property
    def is_bad_token(self) -> bool:
        return self.code in (401, 404)

    @property
    def is_conflict(self) -> bool:
        """Whether another program receives this bot's messages."""
        return self.code == 409


class TelegramApi:
    """One bot at one Bot API server. `skew` is how many seconds this machine's clock is ahead, after the first call."""

    def __init__(self, token: str, api: str, *, timeout: float = 10) -> None:
        self.token = token
        self._base = f"{api.rstrip('/')}/bot{token}"
        self._timeout = timeout
        self._opener = _opener(api)
        self.skew: float | None = None

    def call(self, method: str, *, wait: float = 0, **parameters: object) -> Any:  # noqa: ANN401 (JSON)
        """The `result` of a method, which may take `wait` seconds longer; raises TelegramError."""
        body = json.dumps(parameters).encode()
        request = Request(f"{self._base}/{method}", body, {"content-type": "application/json"})  # noqa: S310 (http or https, see the settings)
        try:
            with self._opener.open(request, timeout=self._timeout + wait) as response:
                self._compare_clocks(response.headers.get("date"))
                return _result(response.read(_LARGEST), response.status)
        except HTTPError as error:
            with error:
                return _result(error.read(_LARGEST), error.code)
        except (OSError, HTTPException, ValueError) as error:
            # The error itself may contain the address, and with it the token.
            raise TelegramUnreachable(_reason(error)) from None

    def _compare_clocks(self, date: str | None) -> None:
        try:
            self.skew = time.time() - parsedate_to_datetime(date).timestamp() if date else None
        except ValueError:
            self.skew = None


class _NoRedirects(HTTPRedirectHandler):
    """The token must not go anywhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


def _opener(api: str) -> OpenerDirector:
    here = urlsplit(api).hostname in LOOPBACK
    return build_opener(_NoRedirects(), *([ProxyHandler({})] if here else []))


def _result(body: bytes, status: int) -> Any:  # noqa: ANN401 (JSON)
    try:
        answer = json.loads(body)
        if answer["ok"] is True:
            return answer["result"]
        code, reason = int(answer.get("error_code", status)), str(answer.get("description", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise TelegramUnreachable(f"it answered with status {status}, not as a Bot API server does") from None
    parameters = answer.get("parameters")
    raise TelegramRefused(code, reason, parameters if isinstance(parameters, dict) else {})


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return "no answer in time"
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror
    return type(inner).__name__
