"""Prints the OpenAPI document for API clients: `python -m handraise.api.describe`."""

import sys
from typing import Any, cast

import msgspec

import handraise
from handraise.api.app import WebApp
from handraise.api.changes import ChangeRoutes
from handraise.api.completing import CompletionRoutes
from handraise.api.devices import DeviceRoutes
from handraise.api.login import LoginRoutes
from handraise.api.notifications import NotificationRoutes
from handraise.api.openapi import document
from handraise.api.setup import SetupRoutes
from handraise.api.static import StaticPage
from handraise.api.stream import Streams
from handraise.api.telegram import TelegramRoutes, TelegramState
from handraise.api.webhooks import WebhookRoutes


def main() -> None:
    # Nobody calls these routes, so they need none of what is behind them.
    nothing = cast(Any, None)
    page, cookie = StaticPage(), "handraise"
    login = LoginRoutes(page, secure=False, base="", cookie=cookie)
    more = (
        *ChangeRoutes(nothing).routes(),
        *DeviceRoutes(nothing).routes(),
        *WebhookRoutes(nothing).routes(),
        *TelegramRoutes(TelegramState).routes(),
        *NotificationRoutes(nothing).routes(),
        *CompletionRoutes(nothing, nothing).routes(),
        *SetupRoutes(nothing, nothing, nothing).routes(),
    )
    app = WebApp(nothing, login, Streams(), page, more)
    content = msgspec.json.encode(document(app.routes, handraise.__version__, cookie))
    sys.stdout.buffer.write(msgspec.json.format(content))


if __name__ == "__main__":
    main()
