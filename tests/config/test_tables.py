"""The known keys, values and variables, and how others are refused."""

import pytest

from handraise.config.reading import read_settings
from handraise.config.tables import VARIABLES, SettingsRefused


def refusal(text: str = "", environ: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsRefused) as refused:
        read_settings(text, environ or {})
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[web]\nprot = 1", "handraise.toml: unknown key web.prot. Did you mean web.port?"),
        ("[wbe]\nport = 1", "handraise.toml: unknown key wbe. Did you mean web?"),
        ("[claude]\nport = 1", "handraise.toml: unknown key claude.port. Did you mean web.port?"),
        ("[patience]\nplan = 1", "handraise.toml: unknown key patience.plan. Did you mean ask.patience.plan?"),
        (
            "[[rule]]\ndecison = 'deny'",
            "handraise.toml, [[rule]] 1: unknown key decison. Did you mean decision?",
        ),
        ("[[rule]]\nid = 'r_1'\ndecision = 'deny'", "[[rule]] 1: unknown key id."),
        ("[[rules]]\ndecision = 'deny'", "unknown key rules."),
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
        ("[claude]\nallowed_tools = 'Bash'", "claude.allowed_tools must be a list of strings."),
        ("[claude]\npermission_mode = 'edit'", 'claude.permission_mode must be one of "acceptEdits", "auto"'),
        ("[claude]\nmodel = ''", "claude.model must be a string that is not empty."),
        ("[ask]\nask_user_timeout = 29", "ask.ask_user_timeout must be a whole number from 30 to 900 ("),
        ("[ask]\nask_user_timeout = 901", "agents don't wait for more"),
        ("[ask.patience]\nplan = 0", 'ask.patience.plan must be a number above 0 (seconds, at most a year) or "never'),
        ("[ask.patience]\nplan = nan", "ask.patience.plan must be"),
        ("[ask.patience]\nplan = inf", "ask.patience.plan must be"),
        ("[telegram]\nallowed = ['ana']", "telegram.allowed must be a list of whole numbers."),
        ("[[rule]]\ndecision = 'never'", 'handraise.toml, [[rule]] 1: decision must be one of "allow", "ask", "deny".'),
        ("[[rule]]\ndecision = 'ask'\nexpires_at = 2030-01-01T00:00:00", "expires_at must be a date and time with a"),
        ("web = 1", "handraise.toml: web is a section. Write [web]."),
        ("[web.port]\nx = 1", "web.port must be a whole number"),
        ("x y", "handraise.toml isn't valid TOML: "),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_with_its_place_and_what_is_expected(text: str, sentence: str) -> None:
    assert sentence in refusal(text)


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
        (
            "HANDRAISE_WEB_PROT",
            "1",
            "Unknown environment variable HANDRAISE_WEB_PROT. Did you mean HANDRAISE_WEB_PORT?",
        ),
        ("HANDRAISE_STAT", "/tmp", "Did you mean HANDRAISE_STATE?"),
        ("HANDRAISE_WEB_PORT", "many", "HANDRAISE_WEB_PORT: web.port must be a whole number"),
        ("HANDRAISE_WEB_PORT", "1\nx = 2", "HANDRAISE_WEB_PORT: web.port must be a whole number"),
        ("HANDRAISE_WEB_TLS_KEY", "/key", "The environment variables: [web] tls_cert and tls_key belong together"),
    ],
)
def test_a_wrong_variable_is_told_by_its_name(name: str, text: str, sentence: str) -> None:
    assert sentence in refusal(environ={name: text})
