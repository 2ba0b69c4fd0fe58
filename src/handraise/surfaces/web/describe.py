"""Prints the OpenAPI document, for whoever builds against the API: `python -m handraise.surfaces.web.describe`."""

import sys
from typing import cast

import msgspec

import handraise
from handraise.surfaces.web.app import WebApp
from handraise.surfaces.web.devices import Bell, Devices
from handraise.surfaces.web.door import Door
from handraise.surfaces.web.entering import Entrance
from handraise.surfaces.web.openapi import document
from handraise.surfaces.web.page import Page
from handraise.surfaces.web.stream import Streams


def main() -> None:
    # Nobody enters here, so that no door and no bell is needed.
    page, cookie = Page(), "handraise"
    entrance = Entrance(page, secure=False, base="", cookie=cookie)
    app = WebApp(cast(Door, None), entrance, Streams(), page, Devices(cast(Bell, None)).ways())
    told = msgspec.json.encode(document(app.ways, handraise.__version__, cookie))
    sys.stdout.buffer.write(msgspec.json.format(told))


if __name__ == "__main__":
    main()
