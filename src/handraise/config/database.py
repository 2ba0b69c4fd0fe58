"""Where the database is: a file, or a PostgreSQL server that several machines share. Pure.

No sentence repeats the URL: it may contain a password.
"""

import re
from difflib import get_close_matches
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from msgspec import Struct

_FILES = "sqlite:///ABSOLUTE/PATH or an absolute path"
_SERVERS = "postgresql://USER@HOST/DATABASE"
SUPPORTED = f"Use {_FILES}, or {_SERVERS}."
_EXAMPLE = f"It must be like {_SERVERS}?sslmode=verify-full."
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):")
_SHARED = ("postgresql", "postgres")
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SERVER_KINDS = ("any", "primary", "read-write")
"""Of `target_session_attrs`: the hub writes, so a standby is of no use."""
_TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")
_VALUES: dict[str, tuple[str, ...]] = {
    "sslmode": SSL_MODES,
    "target_session_attrs": _SERVER_KINDS,
    "ssl_min_protocol_version": _TLS_VERSIONS,
    "ssl_max_protocol_version": _TLS_VERSIONS,
}
_FREE = (
    "host",
    "port",
    "user",
    "password",
    "passfile",
    "dbname",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "sslcrl",
    "sslpassword",
)
PARAMETERS = (*_VALUES, *_FREE)
_SECRETS = ("password", "sslpassword")
_FILES_OF_TLS = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
_LAST_PORT = 65535


class SharedDatabase(Struct, frozen=True):
    """A database on a PostgreSQL server. `shown` is the URL without passwords; `url` is a secret if it has one."""

    url: str
    shown: str
    has_password: bool = False
    sslmode: str = "prefer"
    host: str = ""
    """Without its port; empty for a Unix socket. Several are separated by commas."""
    server: str = ""
    """The user, host and port."""
    files: tuple[tuple[str, str], ...] = ()
    """The certificates and keys that it names: each parameter with its path."""

    def __repr__(self) -> str:
        return f"SharedDatabase({self.shown!r})"


def read_database(location: str) -> str | SharedDatabase:
    """The file of a path or a URL, which may begin with `~`, or the shared database. Raises ValueError, in words."""
    scheme = _SCHEME.match(location)
    if scheme is not None and scheme[1].lower() in _SHARED:
        return _shared(location)
    return _file(location, scheme[1] if scheme else None)


def database_file(location: str | None) -> str | None:
    """The file, if it is one."""
    found = read_database(location) if location else None
    return found if isinstance(found, str) else None


def shared_database(location: str | None) -> SharedDatabase | None:
    """The shared database, if it is one."""
    found = read_database(location) if location else None
    return found if isinstance(found, SharedDatabase) else None


def _file(location: str, scheme: str | None) -> str:
    if scheme is None:
        path = location
    elif scheme.lower() == "sqlite":
        path = _path_of(location)
    else:
        raise ValueError(f"{scheme} isn't supported. {SUPPORTED}")
    if not path.startswith(("/", "~/")) or "\0" in path:
        raise ValueError(f"This isn't a full path. {SUPPORTED}")
    if path.endswith("/") or PurePosixPath(path).name in ("", ".", ".."):
        raise ValueError(f"This is a folder, not a file. {SUPPORTED}")
    return path if path.startswith("~") else f"/{path.lstrip('/')}"


def _path_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc:
        raise ValueError(f"An SQLite URL can't have a host. {SUPPORTED}")
    if parts.query or parts.fragment:
        raise ValueError(f"An SQLite URL must end after the path. {SUPPORTED}")
    return unquote(parts.path)


def _shared(url: str) -> SharedDatabase:
    if any(not each.isprintable() or each.isspace() for each in url):
        raise ValueError("The URL contains a space or a hidden character. Percent-encode it: %20 for a space.")
    try:
        parts = urlsplit(url)
        fields = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise ValueError(f"The PostgreSQL URL can't be read. {_EXAMPLE}") from None
    if parts.fragment or "#" in url:
        raise ValueError("The PostgreSQL URL contains #. In a name or password, write %23.")
    query = dict(fields)
    if len(query) != len(fields):
        raise ValueError("The PostgreSQL URL names a parameter twice. Remove one of them.")
    _check_parameters(query)
    person, at, hosts = parts.netloc.rpartition("@")
    user, colon, _ = person.partition(":")
    if "@" in person:
        raise ValueError("The PostgreSQL URL contains more than one @. In a name or password, write %40.")
    _check_hosts(hosts)
    if not unquote(parts.path).strip("/") and not query.get("dbname"):
        raise ValueError(f"The PostgreSQL URL names no database. {_EXAMPLE}")
    if "/" in parts.path[1:]:
        raise ValueError(f"The PostgreSQL URL has a / too many. In a name or password, write %2F. {_EXAMPLE}")
    shown = f"{user}{at}{hosts}{parts.path}"
    rest = "&".join(f"{name}={quote(value, safe='/:')}" for name, value in query.items() if name not in _SECRETS)
    return SharedDatabase(
        url,
        f"postgresql://{shown}{f'?{rest}' if rest else ''}",
        bool(colon) or "password" in query,
        query.get("sslmode", "prefer"),
        ",".join(_host(each) for each in (hosts or query.get("host", "")).split(",")),
        "|".join((user or query.get("user", ""), hosts or query.get("host", ""), query.get("port", ""))),
        tuple((name, query[name]) for name in _FILES_OF_TLS if name in query),
    )


def _check_parameters(query: dict[str, str]) -> None:
    for name, value in query.items():
        if name not in PARAMETERS:
            near = get_close_matches(name, PARAMETERS, 1)
            raise ValueError(
                f"The PostgreSQL URL has an unsupported parameter{f': did you mean {near[0]}?' if near else '.'}"
                f" Supported: {', '.join(each for each in PARAMETERS if each not in _SECRETS)}."
            )
        allowed = _VALUES.get(name)
        if allowed is not None and value not in allowed:
            raise ValueError(f"{name} in the PostgreSQL URL must be one of {', '.join(allowed)}.")


def _host(named: str) -> str:
    """A folder of Unix sockets counts as none."""
    if named.startswith("/"):
        return ""
    inside, bracket, _ = named.partition("]")
    return inside.lstrip("[") if bracket else named.partition(":")[0]


def _check_hosts(hosts: str) -> None:
    """`db.example`, `db.example:5432`, `[::1]:5432`, several separated by commas, or none for a Unix socket."""
    for each in hosts.split(","):
        _, bracket, after = each.rpartition("]")
        _, colon, port = (after if bracket else each).rpartition(":")
        if colon and not (port.isascii() and port.isdigit() and 0 < int(port) <= _LAST_PORT):
            raise ValueError(
                "The port in the PostgreSQL URL isn't a number. If the password contains : / @ or #, percent-encode it."
            )
