"""The images that people sent with messages. Never returns anything else of a message."""

from base64 import b64decode
from binascii import Error
from typing import Any

from starlette.responses import Response

from handraise.api.requests import ApiRequest, Route
from handraise.desk.interface import NotFound
from handraise.store.interface import Store
from handraise.texts import t

# Types that a browser shows as images and never runs.
_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_HEADERS = {
    "cache-control": "private, max-age=86400, immutable",
    "content-disposition": "inline",
    "content-security-policy": "default-src 'none'; sandbox",
}


class Pictures:
    """Reads images from the messages in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def show(self, request: ApiRequest) -> Response:
        session, name, number = request.path("id"), request.path("say"), request.path("number")
        says = await self._store.says(session, waiting=False)
        content = next((each.content for each in says if each.id == name), "")
        pictures = [each for each in content if not isinstance(each, str) and each.get("type") == "image"]
        if not number.isascii() or not number.isdigit() or len(number) > 4 or int(number) >= len(pictures):
            raise NotFound(t("error.image.missing"))
        return _shown(pictures[int(number)])

    def route(self) -> Route:
        return Route(
            "GET",
            "/api/sessions/{id}/says/{say}/pictures/{number}",
            "viewer",
            self.show,
            "Get an image sent with a message, counted from 0",
            media="image/*",
        )


def _shown(block: dict[str, Any]) -> Response:
    source = block.get("source")
    kind = source.get("media_type") if isinstance(source, dict) else None
    if not isinstance(source, dict) or kind not in _TYPES:
        raise NotFound(t("error.image.type"))
    try:
        data = b64decode(str(source.get("data")), validate=True)
    except (Error, ValueError) as error:
        raise NotFound(t("error.image.unreadable")) from error
    return Response(data, media_type=str(kind), headers=_HEADERS)
