"""A project's own file, which Claude can edit, against the person's settings."""

import pytest

from handraise.config.reading import Layers, read_layers
from handraise.config.tables import SettingsRefused


@pytest.mark.parametrize(
    ("project", "sentence"),
    [
        ("mode = 'bypassPermissions'", ".handraise.toml: mode must not be 'bypassPermissions'. Claude can edit"),
        ("mode = 'auto'", "mode must not be 'auto'"),
        ("mode = 'acceptEdits'", "mode must not be 'acceptEdits'"),
        ("allowed_tools = ['Read', 'Bash']", "allowed_tools must not name 'Bash', which your own settings do not"),
        ("[[rule]]\ndecision = 'ask'\n[[rule]]\ndecision = 'allow'\ntool = 'Bash'", "[[rule]] 2 must not allow"),
        ("[[rule]]\ndecision = 'deny'\nproject = 'p_2'", "[[rule]] 1 must not name a project: it holds"),
        ("[web]\nhost = '0.0.0.0'", ".handraise.toml: there is no key web."),
        ("[claude]\npath = '/tmp/claude'", "there is no key claude."),
        ("path = '/tmp/claude'", "there is no key path."),
        ("[[rule]]\ndecision = 'ask'\n" * 101, ".handraise.toml: it has 101 rules. Keep 100 at most"),
        (f"[[rule]]\ndecision = 'deny'\npath = '{'*a' * 101}'", "[[rule]] 1: path is longer than 200 characters"),
        (f"[[rule]]\ndecision = 'deny'\ncommand = '{'*a' * 101}'", "[[rule]] 1: command is longer than 200"),
        (f"[[rule]]\ndecision = 'deny'\nmessage = '{'a' * 2001}'", "[[rule]] 1: message is longer than 2,000"),
        ("a = " + "[" * 9_000, ".handraise.toml is nested too deeply."),
        ("ask_user_timeout = 5", ".handraise.toml: ask_user_timeout must be a whole number from 30 to 900"),
    ],
)  # fmt: skip
def test_a_projects_file_can_never_widen_what_the_person_allows(project: str, sentence: str) -> None:
    with pytest.raises(SettingsRefused) as refused:
        read_layers(Layers("[claude]\nallowed_tools = ['Read']", project=project))

    assert sentence in str(refused.value)


def test_a_project_may_say_what_the_person_says_anyway() -> None:
    own = "[claude]\npermission_mode = 'auto'\nallowed_tools = ['Read', 'Bash']"

    assert read_layers(Layers(own, project="mode = 'auto'\nallowed_tools = ['Read']")).claude.allowed_tools == ("Read",)


@pytest.mark.parametrize("mode", ["default", "manual", "plan", "dontAsk", "acceptEdits", "auto"])
def test_a_project_may_be_more_careful_than_the_person(mode: str) -> None:
    own = "[claude]\npermission_mode = 'bypassPermissions'"

    assert read_layers(Layers(own, project=f"mode = '{mode}'")).claude.mode == mode
