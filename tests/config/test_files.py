"""The settings files: where they are, and which ones are refused."""

import os
from pathlib import Path

import platformdirs
import pytest

from handraise.config.files import load_layers, settings_file
from handraise.config.reading import read_layers
from handraise.config.tables import SettingsRefused


def written(path: Path, text: str | bytes, mode: int = 0o600) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("base", [None, "", " ", "relative", "/etc/mine"])
def test_places_are_named_by_variables_or_by_the_platform(monkeypatch: pytest.MonkeyPatch, base: str | None) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    if base is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", base)
    assert settings_file({}) == platformdirs.user_config_path("handraise") / "handraise.toml"
    assert settings_file({"HANDRAISE_CONFIG": "mine.toml"}) == Path.cwd() / "mine.toml"


def test_both_files_are_read_and_lie_over_each_other(tmp_path: Path) -> None:
    own = written(tmp_path / "own.toml", "[web]\nport = 1\n[claude]\nmodel = 'opus'", 0o644)
    written(tmp_path / ".handraise.toml", "model = 'haiku'")

    settings = read_layers(load_layers({"HANDRAISE_CONFIG": str(own)}, tmp_path))

    assert (settings.web.port, settings.claude.model) == (1, "haiku")


def test_a_project_without_a_file_says_nothing(tmp_path: Path) -> None:
    own = written(tmp_path / "own.toml", "")

    assert load_layers({"HANDRAISE_CONFIG": str(own)}, tmp_path).project == ""
    assert load_layers({"HANDRAISE_CONFIG": str(own)}, own).project == ""


def test_a_named_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match=r".*/none\.toml doesn't exist. Fix or unset HANDRAISE_CONFIG"):
        load_layers({"HANDRAISE_CONFIG": str(tmp_path / "none.toml")})


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    own = written(tmp_path / "own.toml", "", mode)

    with pytest.raises(SettingsRefused, match=r"Other users can write .* Run: chmod go-w"):
        load_layers({"HANDRAISE_CONFIG": str(own)})


def test_a_projects_file_that_others_can_write_is_refused(tmp_path: Path) -> None:
    own = written(tmp_path / "own.toml", "")
    written(tmp_path / ".handraise.toml", "", 0o664)

    with pytest.raises(SettingsRefused, match="Other users can write"):
        load_layers({"HANDRAISE_CONFIG": str(own)}, tmp_path)


def test_what_is_no_file_of_settings_is_refused_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o600)
    large = written(tmp_path / "large", b"#" * (1024 * 1024 + 1))
    for path in (tmp_path / "fifo", tmp_path, large):
        with pytest.raises(SettingsRefused, match="isn't a settings file"):
            load_layers({"HANDRAISE_CONFIG": str(path)})


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    own = written(tmp_path / "own.toml", b"# \xff")

    with pytest.raises(SettingsRefused, match=r"isn't valid UTF-8 \(byte 2\)"):
        load_layers({"HANDRAISE_CONFIG": str(own)})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("model = '" + "a" * 70_000 + "'", "is larger than 64 KiB"),
        ("a" + ".a" * 30_000 + " = 1", "has a line with more than 200 dots"),
    ],
)
def test_a_projects_file_that_takes_long_to_read_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    own = written(tmp_path / "own.toml", "")
    written(tmp_path / ".handraise.toml", text)

    with pytest.raises(SettingsRefused, match=sentence):
        load_layers({"HANDRAISE_CONFIG": str(own)}, tmp_path)
