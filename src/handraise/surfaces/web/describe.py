"""Prints the OpenAPI document, for whoever builds against the API: `python -m handraise.surfaces.web.describe`."""

import sys
from typing import cast

import msgspec

import handraise
from handraise.surfaces.web.app import WebApp
from handraise.surfaces.web.door import Door
from handraise.surfaces.web.entering import Entrance
from handraise.surfaces.web.openapi import document
from handraise.surfaces.web.stream import Streams


def main() -> None:
    # Nobody enters here, so that no door is needed.
    app = WebApp(cast(Door, None), Entrance(secure=False, base=""), Streams())
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document(app.ways, handraise.__version__))))


if __name__ == "__main__":
    main()
