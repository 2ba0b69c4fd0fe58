"""The hub that the settings describe."""

from pathlib import Path

import pytest

from handraise.cli.hub_settings import service
from handraise.config.tables import SettingsRefused
from handraise.model.projects import OwnFileUnfit

SETTINGS = """
[claude]
model = "opus"
use_api_billing = true
allow_unsafe_plan_mode = true
[limits]
parallel = 3
idle_seconds = 60
[web]
port = 9000
allowed_hosts = ["Hub.example"]
[[rule]]
decision = "deny"
tool = "WebFetch"
"""


def environ(folder: Path, text: str = SETTINGS) -> dict[str, str]:
    file = folder / "handraise.toml"
    file.write_text(text)
    file.chmod(0o600)
    return {"HANDRAISE_CONFIG": str(file), "ANTHROPIC_API_KEY": "key", "PATH": "/usr/bin:/bin"}


def test_the_settings_reach_every_part_of_the_hub(tmp_path: Path) -> None:
    made = service(environ(tmp_path), tmp_path / "state", None, None)
    assert (made.port, made.limit, made.limits.idle, made.options.model) == (9000, 3, 60, "opus")
    assert made.limits.unsafe_plan
    assert made.allowed_hosts == {"hub.example"}
    assert [rule.tool for rule in made.rules] == ["WebFetch"]
    assert made.environment["ANTHROPIC_API_KEY"] == "key"


def test_a_word_on_the_command_line_is_over_the_settings(tmp_path: Path) -> None:
    assert service(environ(tmp_path), tmp_path / "state", None, 0).port == 0


def test_the_key_is_stripped_unless_billing_is_chosen(tmp_path: Path) -> None:  # lesson 25
    made = service(environ(tmp_path, ""), tmp_path / "state", None, None)
    assert "ANTHROPIC_API_KEY" not in made.environment
    assert not made.limits.unsafe_plan


def test_no_claude_sees_a_token_for_a_hub(tmp_path: Path) -> None:
    variables = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HANDRAISE_TOKEN": "secret", "HANDRAISE_HUB": "http://x"}
    made = service({**environ(tmp_path), **variables}, tmp_path / "state", None, None)
    assert not {"HANDRAISE_TOKEN", "HANDRAISE_HUB"} & set(made.environment)
    assert (tmp_path / "config" / "handraise") in made.hidden
    assert (tmp_path / "handraise.toml") in made.hidden


def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match="parallel"):
        service(environ(tmp_path, "[limits]\nparalel = 3\n"), tmp_path / "state", None, None)


def test_a_directory_may_deny_and_choose_its_model_but_allow_nothing(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    own = project / ".handraise.toml"
    own.write_text('model = "haiku"\n[[rule]]\ndecision = "deny"\ntool = "Bash"\n')
    made = service(environ(tmp_path), tmp_path / "state", None, None)
    found = made.own_file(str(project))
    assert found.options is not None
    assert found.options.model == "haiku"
    assert [rule.decision for rule in found.rules] == ["deny"]

    own.write_text('[[rule]]\ndecision = "allow"\ntool = "Bash"\n')
    with pytest.raises(OwnFileUnfit):
        made.own_file(str(project))
