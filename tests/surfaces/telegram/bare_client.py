"""The smallest client of the Bot API: it sends what it is given, and returns what came back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from surfaces.telegram.bot_api import BotApi
from surfaces.telegram.wire import NO_TLS


class BareClient:
    """For tests of the server, and as the yardstick of benchmarks."""

    def __init__(self, base: str, token: str) -> None:
        self._base = f"{base}/bot{token}"
        self.http = httpx2.AsyncClient(timeout=httpx2.Timeout(60.0), verify=NO_TLS)

    async def call(self, method: str, **params: Any) -> Any:
        """The result of a call that must succeed."""
        answer = await self.answer(method, **params)
        assert answer["ok"], answer
        return answer["result"]

    async def answer(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer of a call."""
        answer = await self.http.post(f"{self._base}/{method}", json=params)
        content: dict[str, Any] = answer.json()
        assert content["ok"] or content["error_code"] == answer.status_code
        return content

    async def refusal(self, method: str, **params: Any) -> str:
        """Why a call is refused: the code and the description."""
        answer = await self.answer(method, **params)
        assert not answer["ok"], answer
        return f"{answer['error_code']} {answer['description']}"

    async def upload(self, method: str, field: str, name: str, content: bytes, **params: Any) -> dict[str, Any]:
        answer = await self.http.post(f"{self._base}/{method}", data=params, files={field: (name, content)})
        read: dict[str, Any] = answer.json()
        return read


@asynccontextmanager
async def bare_client(api: BotApi) -> AsyncIterator[BareClient]:
    made = BareClient(api.base, api.token)
    async with made.http:
        yield made
