"""The settings from texts and variables: which layer wins, what is refused, and with which words."""

import pytest

from handraise.config.keys import VARIABLES
from handraise.config.reading import Effective, Layers, Source, effective, project_rules, read_layers, read_settings
from handraise.config.settings import Settings, WrittenRule
from handraise.config.tables import SettingsRefused
from handraise.model.projects import Options, Patience
from handraise.model.rules import Rule

TOKEN = "12345:abcdefghijklmnopqrstuvwxyz"


def refusal(text: str = "", environ: dict[str, str] | None = None, project: str = "") -> str:
    with pytest.raises(SettingsRefused) as refused:
        read_layers(Layers(text, environ=environ or {}, project=project))
    return str(refused.value)


def source_of(key: str, layers: Layers) -> tuple[object, Source]:
    (found,) = [each for each in effective(layers) if each.key == key]
    return found.value, found.source


def test_without_anything_every_value_is_its_default() -> None:
    settings = read_settings("", {"HOME": "/root", "PATH": "/bin"})

    assert settings == Settings()
    assert settings.options == Options(mode="default", ask_user_enabled=True, ask_user_timeout=300)
    assert settings.rules == ()


def test_a_file_sets_what_it_names_and_nothing_else() -> None:
    settings = read_settings(
        """
        [claude]
        model = "opus"
        permission_mode = "plan"
        allowed_tools = ["Read"]
        [ask]
        ask_user_timeout = 30
        [ask.patience]
        plan = 60
        form = "for ever"
        [limits]
        parallel = 2
        """,
        {},
    )

    assert settings.options == Options(
        mode="plan",
        model="opus",
        allowed_tools=("Read",),
        ask_user_enabled=True,
        ask_user_timeout=30,
        patience=Patience(plan=60),
    )
    assert settings.limits.parallel == 2
    assert settings.web == Settings().web


def test_rules_are_in_the_order_of_the_file_and_named_by_their_place() -> None:
    settings = read_settings(
        """
        [[rule]]
        decision = "deny"
        command = "git push *"
        message = "Not by you."
        [[rule]]
        decision = "allow"
        tool = "Bash"
        expires_at = 2030-01-31T18:00:00Z
        """,
        {},
    )

    push, bash = settings.rules
    assert push == Rule("handraise.toml#1", "deny", command="git push *", message="Not by you.", source="settings")
    assert (bash.id, bash.tool) == ("handraise.toml#2", "Bash")
    assert bash.expires_at is not None
    assert bash.expires_at.tzinfo is not None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[web]\nprot = 1", "handraise.toml: there is no key web.prot. Perhaps web.port was meant."),
        ("[wbe]\nport = 1", "handraise.toml: there is no key wbe. Perhaps web was meant."),
        ("[claude]\nport = 1", "handraise.toml: there is no key claude.port. Perhaps web.port was meant."),
        ("[patience]\nplan = 1", "handraise.toml: there is no key patience.plan. Perhaps ask.patience.plan was meant."),
        (
            "[[rule]]\ndecison = 'deny'",
            "handraise.toml, [[rule]] 1: there is no key decison. Perhaps decision was meant.",
        ),
        ("[[rule]]\nid = 'r_1'\ndecision = 'deny'", "[[rule]] 1: there is no key id."),
        ("[[rules]]\ndecision = 'deny'", "there is no key rules."),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_known_one(text: str, sentence: str) -> None:
    assert sentence in refusal(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[web]\nport = '1'", "handraise.toml: web.port must be a whole number from 0 to 65535"),
        ("[web]\nport = true", "web.port must be a whole number"),
        ("[web]\nbehind_proxy = 'yes'", "web.behind_proxy must be true or false."),
        ("[claude]\nallowed_tools = 'Bash'", "claude.allowed_tools must be a list of texts."),
        ("[claude]\npermission_mode = 'edit'", 'claude.permission_mode must be one of "acceptEdits", "auto"'),
        ("[claude]\nmodel = ''", "claude.model must be a text that is not empty."),
        ("[ask]\nask_user_timeout = 29", "ask.ask_user_timeout must be a whole number from 30 to 900 ("),
        ("[ask]\nask_user_timeout = 901", "after more the agent's client gives up"),
        ("[ask.patience]\nplan = 0", 'ask.patience.plan must be a number above 0 (seconds, a year at most) or "for'),
        ("[ask.patience]\nplan = nan", "ask.patience.plan must be"),
        ("[ask.patience]\nplan = inf", "ask.patience.plan must be"),
        ("[telegram]\nallowed = ['ana']", "telegram.allowed must be a list of whole numbers."),
        ("[[rule]]\ndecision = 'never'", 'handraise.toml, [[rule]] 1: decision must be one of "allow", "ask", "deny".'),
        ("[[rule]]\ndecision = 'ask'\nexpires_at = 2030-01-01T00:00:00", "expires_at must be a date and time with its"),
        ("web = 1", "handraise.toml: web is a section, written [web]."),
        ("[web.port]\nx = 1", "web.port must be a whole number"),
        ("x y", "handraise.toml is not TOML: "),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_with_its_place_and_what_is_expected(text: str, sentence: str) -> None:
    assert sentence in refusal(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[web]\ntls_cert = '/c.pem'", "[web] tls_cert and tls_key belong together"),
        ("[web]\ntrusted_header = 'X-User'", "[web] trusted_header and trusted_addresses belong together"),
        ("[web]\ntrusted_header = 'X'\ntrusted_addresses = ['proxy']", "must be IP addresses; 'proxy' is none."),
        (
            "[claude]\npermission_mode = 'plan'\ndangerously_skip_permissions = true",
            "dangerously_skip_permissions contradicts permission_mode = 'plan'",
        ),
        ("[[rule]]\ndecision = 'deny'\n[[rule]]\ntool = 'Bash'", "handraise.toml, [[rule]] 2: it decides nothing"),
        ("[[rule]]\ndecision = 'allow'", "handraise.toml, [[rule]] 1: It would allow everything"),
        ("[[rule]]\ndecision = 'deny'\ncommand = 'echo \"'", "a quote is not closed"),
        ("[rule]\ndecision = 'deny'", "with both pairs of brackets"),
    ],
)
def test_what_makes_no_sense_together_is_refused(text: str, sentence: str) -> None:
    assert sentence in refusal(text)


def test_a_wrong_secret_is_not_repeated() -> None:
    assert "hunter2" not in refusal("[telegram]\ntoken = 'hunter2'")
    assert TOKEN not in repr(read_settings(f"[telegram]\ntoken = '{TOKEN}'", {}))


def test_every_variable_can_be_set_and_is_read_as_its_key_wants_it() -> None:
    settings = read_settings(
        "[web]\nport = 1",
        {
            "HANDRAISE_WEB_PORT": "8421",
            "HANDRAISE_WEB_BEHIND_PROXY": "true",
            "HANDRAISE_CLAUDE_PATH": "8421",
            "HANDRAISE_CLAUDE_PERMISSION_MODE": "acceptEdits",
            "HANDRAISE_CLAUDE_ALLOWED_TOOLS": "Bash(git log:*), Read",
            "HANDRAISE_WEB_ALLOWED_HOSTS": '["a.example", "b.example"]',
            "HANDRAISE_TELEGRAM_ALLOWED": "1, 22",
            "HANDRAISE_ASK_PATIENCE_PLAN": "90.5",
            "HANDRAISE_ASK_PATIENCE_FORM": "for ever",
        },
    )

    assert (settings.web.port, settings.web.behind_proxy) == (8421, True)
    assert settings.web.allowed_hosts == ("a.example", "b.example")
    assert settings.claude.path == "8421"
    assert settings.claude.mode == "acceptEdits"
    assert settings.claude.allowed_tools == ("Bash(git log:*)", "Read")
    assert settings.telegram.allowed == (1, 22)
    assert (settings.ask.patience.plan, settings.ask.patience.form) == (90.5, "for ever")


def test_an_empty_variable_sets_nothing() -> None:
    assert read_settings("[web]\nport = 1", dict.fromkeys(VARIABLES, "")).web.port == 1


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("HANDRAISE_WEB_PROT", "1", "There is no variable HANDRAISE_WEB_PROT. Perhaps HANDRAISE_WEB_PORT was meant."),
        ("HANDRAISE_STAT", "/tmp", "Perhaps HANDRAISE_STATE was meant."),
        ("HANDRAISE_WEB_PORT", "many", "HANDRAISE_WEB_PORT: web.port must be a whole number"),
        ("HANDRAISE_WEB_PORT", "1\nx = 2", "HANDRAISE_WEB_PORT: web.port must be a whole number"),
        ("HANDRAISE_WEB_TLS_KEY", "/key", "The variables: [web] tls_cert and tls_key belong together"),
    ],
)
def test_a_wrong_variable_is_told_by_its_name(name: str, text: str, sentence: str) -> None:
    assert sentence in refusal(environ={name: text})


def test_a_project_sets_its_own_over_the_persons_and_the_variables_override_both() -> None:
    layers = Layers(
        "[claude]\nmodel = 'opus'\n[ask.patience]\nplan = 10\nform = 20",
        project="mode = 'plan'\nmodel = 'haiku'\nask_user_enabled = false\n[patience]\nplan = 30",
        environ={"HANDRAISE_CLAUDE_MODEL": "sonnet"},
    )

    assert read_layers(layers).options == Options(
        mode="plan",
        model="sonnet",
        ask_user_enabled=False,
        ask_user_timeout=300,
        patience=Patience(plan=30, form=20),
    )


def test_a_project_may_be_stricter_than_a_person_who_skips_permissions() -> None:
    skipping = Layers("[claude]\ndangerously_skip_permissions = true", project="mode = 'plan'")

    assert read_layers(skipping).claude.mode == "plan"
    assert read_layers(Layers(skipping.file)).claude.mode == "bypassPermissions"


def test_a_projects_rules_hold_only_there() -> None:
    layers = Layers(project="[[rule]]\ndecision = 'deny'\ntool = 'Bash'\nproject = 'p_2'")

    assert project_rules(layers, "p_1") == (WrittenRule("deny", tool="Bash").rule(".handraise.toml#1", "p_1"),)
    assert read_layers(layers).rules == ()


@pytest.mark.parametrize(
    ("project", "sentence"),
    [
        ("mode = 'bypassPermissions'", ".handraise.toml: mode must not be 'bypassPermissions'. Claude can edit"),
        ("mode = 'auto'", "mode must not be 'auto'"),
        ("allowed_tools = ['Read', 'Bash']", "allowed_tools must not name 'Bash', which your own settings do not"),
        ("[[rule]]\ndecision = 'ask'\n[[rule]]\ndecision = 'allow'\ntool = 'Bash'", "[[rule]] 2 must not allow"),
        ("[web]\nhost = '0.0.0.0'", ".handraise.toml: there is no key web."),
        ("[claude]\npath = '/tmp/claude'", "there is no key claude."),
        ("path = '/tmp/claude'", "there is no key path."),
        ("ask_user_timeout = 5", ".handraise.toml: ask_user_timeout must be a whole number from 30 to 900"),
    ],
)  # fmt: skip
def test_a_projects_file_can_never_widen_what_the_person_allows(project: str, sentence: str) -> None:
    assert sentence in refusal("[claude]\nallowed_tools = ['Read']", project=project)


def test_a_project_may_say_what_the_person_says_anyway() -> None:
    own = "[claude]\npermission_mode = 'auto'\nallowed_tools = ['Read', 'Bash']"

    assert read_layers(Layers(own, project="mode = 'auto'\nallowed_tools = ['Read']")).claude.allowed_tools == ("Read",)


def test_every_value_tells_where_it_comes_from() -> None:
    layers = Layers(
        "[claude]\nmodel = 'opus'\n[web]\nport = 1\n[limits]\nparallel = 3",
        "/home/ana/.config/handraise/handraise.toml",
        "model = 'haiku'",
        "/shop/.handraise.toml",
        {"HANDRAISE_WEB_PORT": "2"},
    )

    assert source_of("claude.model", layers) == ("haiku", Source("project file", "/shop/.handraise.toml"))
    assert source_of("web.port", layers) == (2, Source("environment", "HANDRAISE_WEB_PORT"))
    assert source_of("limits.parallel", layers) == (3, Source("file", "/home/ana/.config/handraise/handraise.toml"))
    assert source_of("web.host", layers) == ("127.0.0.1", Source("default"))
    assert [each.key for each in effective(layers)] == [key.name for key in VARIABLES.values()]


def test_what_an_upper_layer_took_back_no_longer_comes_from_the_lower_one() -> None:
    layers = Layers("[claude]\ndangerously_skip_permissions = true", project="mode = 'plan'")

    assert source_of("claude.dangerously_skip_permissions", layers) == (False, Source("default"))


def test_a_secret_is_never_shown() -> None:
    layers = Layers(f"[telegram]\ntoken = '{TOKEN}'")

    assert Effective("telegram.token", "set", Source("file", "handraise.toml")) in effective(layers)
    assert TOKEN not in repr(effective(layers))
