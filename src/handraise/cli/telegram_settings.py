"""`[telegram]` as setup finds and changes it, also while it is incomplete."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from handraise import texts
from handraise.config.files import beside_settings, load_layers, read_token, settings_file
from handraise.config.reading import read_layers
from handraise.config.tables import KEYS, SettingsRefused, read_file, read_variables
from handraise.config.telegram import PUBLIC_API
from handraise.config.toml_section import SectionUnfit, assignments, with_values
from handraise.workspace.json_texts import Unmergeable
from handraise.workspace.syncing import write_all

_SECTION = "telegram"
_PRIVATE = "telegram-token"
"""The file for the token, beside the settings."""


class NotSaved(Exception):
    """The settings file was not changed. `lines` can be added by hand."""

    def __init__(self, reason: str, lines: list[str]) -> None:
        super().__init__(reason)
        self.lines = lines


class WrittenTelegram:
    """The section in the settings file, with the environment variables; raises SettingsRefused."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._layers = load_layers(environ)
        self.file = settings_file(environ)
        self._written = _section(read_file(self._layers.file, self._layers.file_path, KEYS))
        self._variables = _section(read_variables(environ))
        language = read_file(self._layers.file, self._layers.file_path, KEYS).get(("language",), texts.ENGLISH)
        if language in texts.languages():
            texts.use(language)

    def get(self, key: str, default: Any) -> Any:  # noqa: ANN401 (any value)
        """The value in effect."""
        return self._variables.get(key, self._written.get(key, default))

    def in_file(self, key: str, default: Any) -> Any:  # noqa: ANN401 (any value)
        """The value in the file alone, which is what can be changed."""
        return self._written.get(key, default)

    @property
    def api(self) -> str:
        return str(self.get("api", PUBLIC_API))

    @property
    def token_path(self) -> Path:
        """Where a new token is saved."""
        return beside_settings(self._token_name, self._environ)

    @property
    def _token_name(self) -> str:
        return str(self.in_file("token_file", _PRIVATE))

    def token(self) -> str | None:
        """The token in effect, if there is one; raises SettingsRefused."""
        source = self._variables if {"token", "token_file"} & self._variables.keys() else self._written
        if "token_file" in source:
            file = beside_settings(source["token_file"], self._environ)
            return read_token(file) if file.exists() else None
        return source.get("token")

    def overridden(self, changes: Mapping[str, object]) -> list[str]:
        """The variables that hide a change of the file."""
        return [KEYS[_SECTION, key].variable for key in changes if key in self._variables]

    def save(self, changes: Mapping[str, object], token: str | None) -> dict[str, object]:
        """Changes the section; a new token goes into a private file. Returns what was written; raises NotSaved."""
        changes = dict(changes)
        files: dict[str, str | None] = {}
        if token is not None:
            files[str(self.token_path)] = f"{token}\n"
            changes |= {"token": None, "token_file": self._token_name}
        private = tuple(files)
        try:
            text = with_values(self._layers.file, _SECTION, changes)
            read_layers(replace(self._layers, file=text))
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_all(self.file.parent, {**files, self.file.name: text}, private)
        except (SectionUnfit, SettingsRefused, Unmergeable, OSError) as error:
            raise NotSaved(_sentence(error), [f"[{_SECTION}]", *assignments(changes)]) from error
        return changes


def _section(values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    return {path[1]: value for path, value in values.items() if path[0] == _SECTION}


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{Path(error.filename or '.')}: {error.strerror}."
    return str(error).rstrip(".") + "."
