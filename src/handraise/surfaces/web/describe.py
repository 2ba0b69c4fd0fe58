"""Prints the OpenAPI document, for whoever builds against the API: `python -m handraise.surfaces.web.describe`."""

import sys
from typing import cast

import msgspec

import handraise
from handraise.surfaces.web.app import WebApp
from handraise.surfaces.web.devices import DeviceNotifier, DeviceRoutes
from handraise.surfaces.web.door import ApiGuard
from handraise.surfaces.web.entering import LoginRoutes
from handraise.surfaces.web.openapi import document
from handraise.surfaces.web.page import StaticPage
from handraise.surfaces.web.stream import Streams


def main() -> None:
    # Nobody enters here, so that no door and no bell is needed.
    page, cookie = StaticPage(), "handraise"
    login = LoginRoutes(page, secure=False, base="", cookie=cookie)
    app = WebApp(cast(ApiGuard, None), login, Streams(), page, DeviceRoutes(cast(DeviceNotifier, None)).routes())
    told = msgspec.json.encode(document(app.routes, handraise.__version__, cookie))
    sys.stdout.buffer.write(msgspec.json.format(told))


if __name__ == "__main__":
    main()
