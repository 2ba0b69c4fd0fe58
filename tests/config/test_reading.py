"""The layers of the settings: which one wins, and where each value comes from; what a project's own file may set."""

import pytest

from handraise.config.reading import Effective, Layers, ValueSource, effective, project_rules, read_layers
from handraise.config.settings import WrittenRule
from handraise.config.tables import VARIABLES, SettingsRefused
from handraise.model.projects import Options, Patience

TOKEN = "12345:abcdefghijklmnopqrstuvwxyz"


def source_of(key: str, layers: Layers) -> tuple[object, ValueSource]:
    (found,) = [each for each in effective(layers) if each.key == key]
    return found.value, found.source


def test_a_project_sets_its_own_over_the_persons_and_the_variables_override_both() -> None:
    layers = Layers(
        "[claude]\nmodel = 'opus'\n[ask.patience]\nplan = 10\nform = 20",
        project="mode = 'plan'\nmodel = 'haiku'\nask_user_enabled = false\n[patience]\nplan = 30",
        environ={"HANDRAISE_CLAUDE_MODEL": "sonnet"},
    )

    assert read_layers(layers).options == Options(
        mode="plan",
        model="sonnet",
        sandbox="open",
        ask_user_enabled=False,
        ask_user_timeout=300,
        patience=Patience(plan=30, form=20, trust=600),
    )


def test_a_project_may_be_stricter_than_a_person_who_skips_permissions() -> None:
    skipping = Layers("[claude]\ndangerously_skip_permissions = true", project="mode = 'plan'")

    assert read_layers(skipping).claude.mode == "plan"
    assert read_layers(Layers(skipping.file)).claude.mode == "bypassPermissions"


def test_a_projects_rules_are_apart_from_the_persons() -> None:
    layers = Layers(project="[[rule]]\ndecision = 'deny'\ntool = 'Bash'")

    assert project_rules(layers) == (WrittenRule("deny", tool="Bash").rule(".handraise.toml#1"),)
    assert read_layers(layers).rules == ()


def test_every_value_tells_where_it_comes_from() -> None:
    layers = Layers(
        "[claude]\nmodel = 'opus'\n[web]\nport = 1\n[limits]\nparallel = 3",
        "/home/ana/.config/handraise/handraise.toml",
        "model = 'haiku'",
        "/shop/.handraise.toml",
        {"HANDRAISE_WEB_PORT": "2"},
    )

    assert source_of("claude.model", layers) == ("haiku", ValueSource("project file", "/shop/.handraise.toml"))
    assert source_of("web.port", layers) == (2, ValueSource("environment", "HANDRAISE_WEB_PORT"))
    assert source_of("limits.parallel", layers) == (
        3,
        ValueSource("file", "/home/ana/.config/handraise/handraise.toml"),
    )
    assert source_of("web.host", layers) == ("127.0.0.1", ValueSource("default"))
    assert [each.key for each in effective(layers)] == [key.name for key in VARIABLES.values()]


def test_what_an_upper_layer_took_back_no_longer_comes_from_the_lower_one() -> None:
    layers = Layers("[claude]\ndangerously_skip_permissions = true", project="mode = 'plan'")

    assert source_of("claude.dangerously_skip_permissions", layers) == (False, ValueSource("default"))


def test_a_secret_is_never_shown() -> None:
    layers = Layers(f"[telegram]\ntoken = '{TOKEN}'\nallowed = [1]")

    assert Effective("telegram.token", "set", ValueSource("file", "handraise.toml")) in effective(layers)
    assert TOKEN not in repr(effective(layers))


@pytest.mark.parametrize(
    ("project", "sentence"),
    [
        ("mode = 'bypassPermissions'", ".handraise.toml: mode must not be 'bypassPermissions'. Claude can edit"),
        ("mode = 'auto'", "mode must not be 'auto'"),
        ("mode = 'acceptEdits'", "mode must not be 'acceptEdits'"),
        ("allowed_tools = ['Read', 'Bash']", "allowed_tools must not name 'Bash', which your own settings don't"),
        ("[[rule]]\ndecision = 'ask'\n[[rule]]\ndecision = 'allow'\ntool = 'Bash'", "[[rule]] 2 must not allow"),
        ("[[rule]]\ndecision = 'deny'\nproject = 'p_2'", "[[rule]] 1 must not name a project. It applies"),
        ("[web]\nhost = '0.0.0.0'", ".handraise.toml: unknown key web."),
        ("[claude]\npath = '/tmp/claude'", "unknown key claude."),
        ("path = '/tmp/claude'", "unknown key path."),
        ("[[rule]]\ndecision = 'ask'\n" * 101, ".handraise.toml: 101 rules are too many. Keep at most 100"),
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
