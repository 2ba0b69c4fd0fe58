"""Prints the OpenAPI document, for whoever builds against the API: `python -m handraise.surfaces.web.describe`."""

import sys
from typing import cast

import msgspec

import handraise
from handraise.surfaces.web.app import WebApp
from handraise.surfaces.web.door import Door
from handraise.surfaces.web.entering import Entrance
from handraise.surfaces.web.openapi import document
from handraise.surfaces.web.page import Page
from handraise.surfaces.web.stream import Streams


def main() -> None:
    # Nobody enters here, so that no door is needed.
    page, cookie = Page(), "handraise"
    app = WebApp(cast(Door, None), Entrance(page, secure=False, base="", cookie=cookie), Streams(), page)
    told = msgspec.json.encode(document(app.ways, handraise.__version__, cookie))
    sys.stdout.buffer.write(msgspec.json.format(told))


if __name__ == "__main__":
    main()
