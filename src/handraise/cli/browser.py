"""The person's browser, where there is one. Says nothing where there is none: the link was printed."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress


def show(link: str, environ: Mapping[str, str] = os.environ) -> None:
    """Opens the link, and waits for nobody."""
    if sys.platform == "darwin":
        opener = "open"
    elif environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        opener = "xdg-open"
    else:
        # A browser for terminals would take this one.
        return
    with suppress(OSError):
        subprocess.Popen(
            [opener, link],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
