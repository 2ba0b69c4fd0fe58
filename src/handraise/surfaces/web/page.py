"""The built page: files that were made before the hub started, and nothing else of this machine."""

from importlib.resources import files
from pathlib import Path

from starlette.responses import FileResponse

_FOR_EVER = "public, max-age=31536000, immutable"


class Page:
    """`folder` has an `index.html`, if the page was built at all."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = (folder or Path(str(files("handraise.surfaces.web"))) / "page").resolve()

    def find(self, path: str) -> FileResponse | None:
        """The file that has this path below the folder."""
        try:
            wanted = (self._folder / path).resolve()
            if not wanted.is_relative_to(self._folder) or not wanted.is_file():
                return None
        except (OSError, ValueError):  # a name that no file can have
            return None
        # Names in here carry a hash of what is in the file.
        age = _FOR_EVER if wanted.parent.name == "assets" else "no-cache"
        return FileResponse(wanted, headers={"cache-control": age})

    def index(self, status: int = 200) -> FileResponse | None:
        """The page itself, which finds out by its address what to show."""
        index = self._folder / "index.html"
        if not index.is_file():
            return None
        return FileResponse(index, status, headers={"cache-control": "no-cache"})
