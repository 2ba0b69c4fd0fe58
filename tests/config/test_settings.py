"""What the settings mean, and which ones contradict each other."""

import pytest

from handraise.config.reading import read_settings
from handraise.config.settings import Settings
from handraise.config.tables import SettingsRefused
from handraise.model.projects import Options, Patience
from handraise.model.rules import Rule

TOKEN = "12345:abcdefghijklmnopqrstuvwxyz"


def refusal(text: str) -> str:
    with pytest.raises(SettingsRefused) as refused:
        read_settings(text, {})
    return str(refused.value)


def test_without_anything_every_value_is_its_default() -> None:
    settings = read_settings("", {"HOME": "/root", "PATH": "/bin"})

    assert settings == Settings()
    assert settings.options == Options(
        mode="default", sandbox="open", ask_user_enabled=True, ask_user_timeout=300, patience=Patience(trust=600)
    )
    assert settings.rules == ()


def test_never_and_the_older_for_ever_both_mean_no_timeout() -> None:
    for word in ("never", "for ever"):
        settings = read_settings(f'[ask.patience]\ntrust = "{word}"\n[store]\nkeep_days = "{word}"', {})

        assert settings.options.patience.trust is None
        assert settings.store.keep_days == word


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
        sandbox="open",
        ask_user_enabled=True,
        ask_user_timeout=30,
        patience=Patience(plan=60, trust=600),
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
        ("[web]\ntls_cert = '/c.pem'", "[web] tls_cert and tls_key belong together"),
        ("[web]\ntrusted_header = 'X-User'", "[web] trusted_header needs trusted_addresses"),
        ("[web]\ntrusted_header = 'X'\ntrusted_addresses = ['proxy']", "must be IP addresses. 'proxy' isn't one."),
        (
            "[claude]\npermission_mode = 'plan'\ndangerously_skip_permissions = true",
            "dangerously_skip_permissions contradicts permission_mode = 'plan'",
        ),
        ("[[rule]]\ndecision = 'deny'\n[[rule]]\ntool = 'Bash'", "handraise.toml, [[rule]] 2: decision is missing"),
        ("[[rule]]\ndecision = 'allow'", "handraise.toml, [[rule]] 1: This rule would allow everything"),
        ("[[rule]]\ndecision = 'deny'\ncommand = 'echo \"'", "has an unclosed quote"),
        ("[rule]\ndecision = 'deny'", "in double brackets"),
    ],
)
def test_what_makes_no_sense_together_is_refused(text: str, sentence: str) -> None:
    assert sentence in refusal(text)


def test_a_wrong_secret_is_not_repeated() -> None:
    assert "hunter2" not in refusal("[telegram]\ntoken = 'hunter2'")
    assert TOKEN not in repr(read_settings(f"[telegram]\ntoken = '{TOKEN}'\nallowed = [1]", {}))


def test_the_language_is_one_that_there_is_a_translation_for() -> None:
    assert read_settings("", {}).language == "en"
    assert read_settings("", {"HANDRAISE_LANGUAGE": "en-XA"}).language == "en-XA"
    assert "no translation for 'xx'. Available: en, en-XA" in refusal('language = "xx"')
