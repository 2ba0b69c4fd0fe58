"""The database file, from a URL or a path. Pure."""

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

_SUPPORTED = "Use sqlite:///ABSOLUTE/PATH or an absolute path"
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):")


def database_file(location: str) -> str:
    """The file of a URL or a path; it may begin with `~`. Raises ValueError with a sentence.

    The sentence doesn't repeat the URL: it may contain a password.
    """
    scheme = _SCHEME.match(location)
    if scheme is None:
        path = location
    elif scheme[1].lower() == "sqlite":
        path = _path_of(location)
    else:
        raise ValueError(f"{scheme[1]} isn't supported. {_SUPPORTED}.")
    if not path.startswith(("/", "~/")) or "\0" in path:
        raise ValueError(f"This isn't a full path. {_SUPPORTED}.")
    if path.endswith("/") or PurePosixPath(path).name in ("", ".", ".."):
        raise ValueError(f"This is a folder, not a file. {_SUPPORTED}.")
    return path if path.startswith("~") else f"/{path.lstrip('/')}"


def _path_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc:
        raise ValueError(f"An SQLite URL can't have a host. {_SUPPORTED}.")
    if parts.query or parts.fragment:
        raise ValueError(f"An SQLite URL must end after the path. {_SUPPORTED}.")
    return unquote(parts.path)
