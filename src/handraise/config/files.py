"""Finds and opens settings files. Refuses a file that others can write."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG

from handraise.config.database import SharedDatabase
from handraise.config.reading import Layers
from handraise.config.settings import StoreSettings
from handraise.config.tables import SettingsRefused
from handraise.config.telegram import TOKEN, TelegramSettings

SETTINGS = "handraise.toml"
PROJECT_SETTINGS = ".handraise.toml"
_APPLICATION = "handraise"
_LARGEST = 1024 * 1024
_LARGEST_OF_PROJECT = 64 * 1024
"""Anyone may have written it, and others wait while it is read."""
_DOTS_IN_LINE = 200
_LARGEST_TOKEN = 1024


def settings_file(environ: Mapping[str, str]) -> Path:
    """`$HANDRAISE_CONFIG`, or `handraise.toml` in the platform's folder for user settings."""
    path = environ.get("HANDRAISE_CONFIG")
    return Path(path).expanduser().absolute() if path else _usual_folder() / SETTINGS


def _usual_folder() -> Path:
    """The platform's folder for user settings, as `platformdirs` would name it; importing that takes too long."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else "~/.config")
    return Path(base, _APPLICATION)


def load_layers(environ: Mapping[str, str], project: Path | None = None) -> Layers:
    """The files as they are now, with the environment variables; raises SettingsRefused."""
    file = settings_file(environ)
    text = _read(file)
    if text is None and environ.get("HANDRAISE_CONFIG"):
        raise SettingsRefused(f"{file} doesn't exist. Fix or unset HANDRAISE_CONFIG.")
    own = None if project is None else project / PROJECT_SETTINGS
    return Layers(
        file=text or "",
        file_path=str(file),
        project=_read_of_project(own) if own else "",
        project_path=str(own or PROJECT_SETTINGS),
        environ=environ,
    )


def token_file(settings: TelegramSettings, environ: Mapping[str, str]) -> Path | None:
    """The file with the bot's token."""
    return None if settings.token_file is None else beside_settings(settings.token_file, environ)


def beside_settings(path: str, environ: Mapping[str, str]) -> Path:
    """A relative path starts at the folder of the settings file."""
    return settings_file(environ).parent / Path(path).expanduser()


def bot_token(settings: TelegramSettings, environ: Mapping[str, str]) -> str | None:
    """The bot's token, from the settings or from its own file; raises SettingsRefused."""
    file = token_file(settings, environ)
    return settings.token if file is None else read_token(file)


def read_token(file: Path) -> str:
    """The token in a file that only its owner can read; raises SettingsRefused, which doesn't repeat the text."""
    text = _read_secret(
        file, "the bot's token", "Run: handraise telegram setup", "It must contain the token and nothing else."
    ).strip()
    if not TOKEN.fullmatch(text):
        raise SettingsRefused(f"{file} doesn't have a bot's token as BotFather gives it. Run: handraise telegram setup")
    return text


def password_file(settings: StoreSettings, environ: Mapping[str, str]) -> Path | None:
    """The file with the database's password."""
    return None if settings.password_file is None else beside_settings(settings.password_file, environ)


def database_password(settings: StoreSettings, environ: Mapping[str, str]) -> str | None:
    """The password in its own file; None if it is elsewhere. Raises SettingsRefused, which doesn't repeat it."""
    file = password_file(settings, environ)
    return None if file is None else _read_password(file)


def check_certificates(shared: SharedDatabase, home: Path) -> None:
    """Whether the files are there that a checked connection needs; raises SettingsRefused."""
    for name, path in shared.files:
        if not Path(path).expanduser().is_file():
            raise SettingsRefused(f"{name} in the database URL: there is no file {path}.")
    usual = home / ".postgresql" / "root.crt"
    if shared.sslmode.startswith("verify-") and "sslrootcert" not in dict(shared.files) and not usual.is_file():
        raise SettingsRefused(
            f"sslmode={shared.sslmode} needs the certificate of the authority that signed the server's. Add"
            f" sslrootcert=FILE to the database URL, or put the certificate at {usual}. For a public authority, use"
            " your system's file, for example sslrootcert=/etc/ssl/certs/ca-certificates.crt."
        )


def _read_password(file: Path) -> str:
    text = _read_secret(
        file,
        "the database's password",
        "Fix [store] password_file, or create the file.",
        "It must contain the password and nothing else.",
    )
    password = text.rstrip("\r\n")
    if not password or "\n" in password:
        raise SettingsRefused(f"{file} must contain the database's password in one line, and nothing else.")
    return password


def _read_secret(file: Path, what: str, missing: str, content: str) -> str:
    """The text of a file that only its owner can read; raises SettingsRefused, which doesn't repeat it."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SettingsRefused(f"Can't read {file}, the file with {what}: {error.strerror}. {missing}") from error
    try:
        status = os.fstat(opened)
        if not S_ISREG(status.st_mode) or status.st_size > _LARGEST_TOKEN:
            raise SettingsRefused(f"{file} isn't a file with {what}. {content}")
        if status.st_mode & 0o077:
            raise SettingsRefused(f"Other users can access {file}, which has {what}. Run: chmod 600 {file}")
        if status.st_uid not in (os.geteuid(), 0):
            raise SettingsRefused(f"{file}, which has {what}, belongs to another user. Make it your own.")
        return os.read(opened, _LARGEST_TOKEN).decode(errors="replace")
    finally:
        os.close(opened)


def _read_of_project(path: Path) -> str:
    text = _read(path) or ""
    if len(text) > _LARGEST_OF_PROJECT:
        raise SettingsRefused(f"{path} is larger than {_LARGEST_OF_PROJECT // 1024} KiB. Shorten it.")
    # Parsing a key takes quadratic time in the number of its dots.
    if any(line.count(".") > _DOTS_IN_LINE for line in text.split("\n")):
        raise SettingsRefused(f"{path} has a line with more than {_DOTS_IN_LINE} dots. Shorten it.")
    return text


def _read(path: Path) -> str | None:
    """The text of a file; None if it doesn't exist."""
    try:
        # Don't block on a FIFO in its place.
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsRefused(f"Can't read {path}: {error.strerror}.") from error
    try:
        _check(os.fstat(opened), path)
        return os.read(opened, _LARGEST).decode()
    except UnicodeDecodeError as error:
        raise SettingsRefused(f"{path} isn't valid UTF-8 (byte {error.start}).") from error
    finally:
        os.close(opened)


def _check(status: os.stat_result, path: Path) -> None:
    if not S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        raise SettingsRefused(f"{path} isn't a settings file. It must be a regular file of at most 1 MiB.")
    if status.st_mode & 0o022:
        raise SettingsRefused(f"Other users can write {path}, and could change your settings. Run: chmod go-w {path}")
    if status.st_uid not in (os.geteuid(), 0):
        raise SettingsRefused(f"{path} belongs to another user, who could change your settings. Make it your own.")
