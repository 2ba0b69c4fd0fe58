"""The images that people sent, and those that tools returned. Never returns anything else of either."""

from base64 import b64decode
from binascii import Error
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from handraise.api.requests import ApiRequest, Route
from handraise.desk.interface import NotFound
from handraise.model.sessions import Session
from handraise.store.interface import Store
from handraise.texts import t

# Types that a browser shows as images and never runs.
_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_HEADERS = {
    "cache-control": "private, max-age=86400, immutable",
    "content-disposition": "inline",
    "content-security-policy": "default-src 'none'; sandbox",
}


MOST = 16 * 1024 * 1024
"""Bytes of an image; a larger one isn't shown."""
_STARTS = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}


FindPicture = Callable[[Session, str, int], Awaitable[dict[str, Any] | None]]
"""An image by session, tool call and number, as Claude Code wrote it."""


class Pictures:
    """Reads images from the messages in the store, and from the results in journals."""

    def __init__(self, store: Store, of_tools: FindPicture) -> None:
        self._store = store
        self._of_tools = of_tools

    async def show(self, request: ApiRequest) -> Response:
        session, name, number = request.path("id"), request.path("say"), request.path("number")
        says = await self._store.says(session, waiting=False)
        content = next((each.content for each in says if each.id == name), "")
        pictures = [each for each in content if not isinstance(each, str) and each.get("type") == "image"]
        at = _number(number)
        if at >= len(pictures):
            raise NotFound(t("error.image.missing"))
        return _shown(pictures[at])

    async def show_result(self, request: ApiRequest) -> Response:
        session = await self._store.session(request.path("id"))
        at = _number(request.path("number"))
        # The ID is the store's: it can't lead out of the folder.
        block = await self._of_tools(session, request.path("action"), at) if session is not None else None
        if block is None:
            raise NotFound(t("error.image.missing"))
        return _shown(block)

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "GET",
                "/api/sessions/{id}/says/{say}/pictures/{number}",
                "viewer",
                self.show,
                "Get an image sent with a message, counted from 0",
                media="image/*",
            ),
            Route(
                "GET",
                "/api/sessions/{id}/actions/{action}/pictures/{number}",
                "viewer",
                self.show_result,
                "Get an image that a tool returned, counted from 0",
                media="image/*",
            ),
        )


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 4:
        raise NotFound(t("error.image.missing"))
    return int(text)


def _shown(block: dict[str, Any]) -> Response:
    source = block.get("source")
    kind = source.get("media_type") if isinstance(source, dict) else None
    if not isinstance(source, dict) or kind not in _TYPES:
        raise NotFound(t("error.image.type"))
    try:
        data = b64decode(str(source.get("data")), validate=True)
    except (Error, ValueError) as error:
        raise NotFound(t("error.image.unreadable")) from error
    if len(data) > MOST or not data.startswith(_STARTS[kind]):
        raise NotFound(t("error.image.unreadable"))
    return Response(data, media_type=str(kind), headers=_HEADERS)
