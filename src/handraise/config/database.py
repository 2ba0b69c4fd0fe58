"""Where the database is: a URL or a path, read as a file. Pure."""

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

_SUPPORTED = "a database is sqlite:///ABSOLUTE/PATH, or just an absolute path"
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):")


def database_file(named: str) -> str:
    """The file that a URL or a path names; it may begin with `~`. Raises ValueError with a sentence.

    What else stands in a URL is not repeated there: it may hold a password.
    """
    scheme = _SCHEME.match(named)
    if scheme is None:
        path = named
    elif scheme[1].lower() == "sqlite":
        path = _path_of(named)
    else:
        raise ValueError(f"{scheme[1]} is not supported: {_SUPPORTED}.")
    if not path.startswith(("/", "~/")) or "\0" in path:
        raise ValueError(f"This does not say which file is meant: {_SUPPORTED}.")
    if path.endswith("/") or PurePosixPath(path).name in ("", ".", ".."):
        raise ValueError(f"This names a folder and no file in it: {_SUPPORTED}.")
    return path if path.startswith("~") else f"/{path.lstrip('/')}"


def _path_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc:
        raise ValueError(f"SQLite is a file on this machine, so that there is no host in its URL: {_SUPPORTED}.")
    if parts.query or parts.fragment:
        raise ValueError(f"Nothing follows the path in the URL of an SQLite file: {_SUPPORTED}.")
    return unquote(parts.path)
