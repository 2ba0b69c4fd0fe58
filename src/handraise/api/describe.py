"""Prints the OpenAPI document for API clients: `python -m handraise.api.describe`."""

import sys
from typing import cast

import msgspec

import handraise
from handraise.api.app import WebApp
from handraise.api.devices import DeviceNotifier, DeviceRoutes
from handraise.api.guard import ApiGuard
from handraise.api.login import LoginRoutes
from handraise.api.openapi import document
from handraise.api.static import StaticPage
from handraise.api.stream import Streams
from handraise.api.telegram import TelegramRoutes, TelegramState


def main() -> None:
    # Nobody calls these routes, so they need no guard and no notifier.
    page, cookie = StaticPage(), "handraise"
    login = LoginRoutes(page, secure=False, base="", cookie=cookie)
    more = (*DeviceRoutes(cast(DeviceNotifier, None)).routes(), *TelegramRoutes(TelegramState).routes())
    app = WebApp(cast(ApiGuard, None), login, Streams(), page, more)
    content = msgspec.json.encode(document(app.routes, handraise.__version__, cookie))
    sys.stdout.buffer.write(msgspec.json.format(content))


if __name__ == "__main__":
    main()
