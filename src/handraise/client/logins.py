"""Which hub a command talks to, and the saved sign-ins. Imports almost nothing: every command starts with it."""

from __future__ import annotations

import json
import os
import sys

from handraise.client.state import VARIABLE, state_folder

TYPE_CHECKING = False  # type checkers treat this name as true; importing `typing` would cost each command 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

HUB = "HANDRAISE_HUB"
TOKEN = "HANDRAISE_TOKEN"  # noqa: S105 (the variable's name)
LOCAL = "local"
"""What `--hub` calls this machine's own hub, whatever was saved."""
_FILE = "logins.json"
_LARGEST = 64 * 1024


class LoginsUnfit(Exception):
    """The file with saved sign-ins can't be used. The text is a sentence."""


class Logins:
    """The tokens by hub address, and the hub that commands use by default."""

    def __init__(self, hub: str | None = None, tokens: dict[str, str] | None = None) -> None:
        self.hub = hub
        self.tokens = tokens or {}


class HubChoice:
    """This machine's hub with its state folder, or the one at `address` with a token."""

    def __init__(self, state: str, address: str | None = None, token: str | None = None, *, named: bool = True) -> None:
        self.state = state
        self.address = address
        self.token = token
        self.named = named
        """Whether the command line or a variable names the hub; otherwise it is the saved one, or the usual one."""


def choose_hub(state: str | None, hub: str | None, environ: Mapping[str, str] | None = None) -> HubChoice:
    """`--hub`, else `--state`, else `$HANDRAISE_HUB`, else `$HANDRAISE_STATE`, else the saved one, else this machine's.

    Raises ValueError if an address isn't a URL, and LoginsUnfit.
    """
    environ = os.environ if environ is None else environ
    folder = state_folder(state, environ)
    wanted = hub or (None if state else environ.get(HUB))
    if wanted == LOCAL or (not wanted and (state or environ.get(VARIABLE))):
        return HubChoice(folder)
    if wanted:
        address = spelled(wanted)
        return HubChoice(folder, address, environ.get(TOKEN) or read_logins(environ).tokens.get(address))
    saved = read_logins(environ)
    if saved.hub is None:
        return HubChoice(folder, named=False)
    return HubChoice(folder, saved.hub, environ.get(TOKEN) or saved.tokens.get(saved.hub), named=False)


def spelled(address: str) -> str:
    """The address as it is saved; raises ValueError if it isn't a URL."""
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"--hub needs a URL, for example https://{address}.")
    return address.rstrip("/")


def logins_file(environ: Mapping[str, str] | None = None) -> str:
    """Beside the settings, in the platform's folder for them: no Claude that a hub runs can read it."""
    environ = os.environ if environ is None else environ
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else "~/.config")
    return os.path.join(base, "handraise", _FILE)


def read_logins(environ: Mapping[str, str] | None = None) -> Logins:
    """What was saved; raises LoginsUnfit if the file is damaged, or others can read it."""
    file = logins_file(environ)
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return Logins()
    except OSError as error:
        raise LoginsUnfit(f"Can't read {file}: {error.strerror}.") from error
    try:
        status = os.fstat(opened)
        if status.st_mode & 0o077:
            raise LoginsUnfit(f"Other users can access {file}, which has your tokens. Run: chmod 600 {file}")
        if status.st_uid not in (os.geteuid(), 0):
            raise LoginsUnfit(f"{file} belongs to another user. Remove it, and sign in again with: handraise login URL")
        content = os.read(opened, _LARGEST)
    except OSError as error:
        raise LoginsUnfit(f"Can't read {file}: {error.strerror}.") from error
    finally:
        os.close(opened)
    return _parsed(content, file)


def write_logins(logins: Logins, environ: Mapping[str, str] | None = None) -> None:
    """Replaces the file in one step; only its owner can read it. Raises OSError."""
    file = logins_file(environ)
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    fresh = f"{file}.{os.getpid()}"
    opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(opened, 0o600)
        os.write(opened, json.dumps({"hub": logins.hub, "tokens": logins.tokens}, indent=2).encode() + b"\n")
        os.fsync(opened)
    finally:
        os.close(opened)
    os.replace(fresh, file)


def _parsed(content: bytes, file: str) -> Logins:
    damaged = f"{file} is damaged. Remove it, and sign in again with: handraise login URL"
    try:
        saved = json.loads(content)
        hub, tokens = saved["hub"], saved["tokens"]
    except (ValueError, LookupError, TypeError):
        raise LoginsUnfit(damaged) from None
    fits = isinstance(tokens, dict) and all(isinstance(each, str) for each in (*tokens, *tokens.values()))
    if not fits or not (hub is None or isinstance(hub, str)):
        raise LoginsUnfit(damaged)
    return Logins(hub, tokens)
