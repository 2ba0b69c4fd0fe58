"""The built page: files built before the hub started, and nothing else from this machine."""

from mimetypes import guess_type
from pathlib import Path

from starlette.responses import FileResponse

from handraise.api.requests import is_accepted

_FOR_EVER = "public, max-age=31536000, immutable"
_TWINS = (("br", ".br"), ("gzip", ".gz"))
"""Compressed when the page was built, best first."""


class StaticPage:
    """`folder` has an `index.html` if the page was built."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = (folder or Path(__file__).parent / "page").resolve()

    def find(self, path: str, accepts: str = "") -> FileResponse | None:
        """The file at this path below the folder; compressed, if `accepts` (Accept-Encoding) allows it."""
        try:
            wanted = (self._folder / path).resolve()
            if not wanted.is_relative_to(self._folder) or not wanted.is_file():
                return None
        except (OSError, ValueError):  # a name that no file can have
            return None
        # Names in here contain a hash of the file's contents.
        age = _FOR_EVER if wanted.parent.name == "assets" else "no-cache"
        return _sent(wanted, 200, age, accepts)

    def index(self, status: int = 200, accepts: str = "") -> FileResponse | None:
        """The page itself, which decides by its URL what to show."""
        index = self._folder / "index.html"
        return _sent(index, status, "no-cache", accepts) if index.is_file() else None


def _sent(file: Path, status: int, age: str, accepts: str) -> FileResponse:
    headers = {"cache-control": age, "vary": "accept-encoding"}
    media = guess_type(file.name)[0] or "application/octet-stream"
    for name, ending in _TWINS:
        twin = file.with_name(file.name + ending)
        if is_accepted(name, accepts) and twin.is_file():
            return FileResponse(twin, status, headers | {"content-encoding": name}, media_type=media)
    return FileResponse(file, status, headers, media_type=media)
