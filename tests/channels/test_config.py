"""What a person types about a channel: a clear sentence for each mistake, and secrets apart from the rest."""

import sys
from subprocess import run

import msgspec
import pytest

from handraise.channels.config import FIELDS, ChannelSecrets, ChannelUnusable, CheckedChannel, check

NTFY = {"topic": "shop-alerts"}
EMAIL = {"host": "smtp.example.com", "sender": "hub@example.com", "recipients": "ana@example.com, bo@example.com"}


def ntfy(**typed: str) -> CheckedChannel:
    return check("c1", "Phone", "ntfy", NTFY | typed)


def email(**typed: str) -> CheckedChannel:
    return check("c1", "Mail", "email", EMAIL | typed)


def test_what_was_typed_gets_its_defaults() -> None:
    assert ntfy().config.fields == {"server": "https://ntfy.sh", "topic": "shop-alerts"}
    assert email().config.fields == {
        "host": "smtp.example.com",
        "security": "starttls",
        "port": "587",
        "sender": "hub@example.com",
        "recipients": "ana@example.com, bo@example.com",
    }
    assert email(security="tls").config.fields["port"] == "465"


def test_a_secret_is_apart_and_in_no_repr() -> None:
    for checked in (
        ntfy(token="tk_secret"),
        ntfy(user="ana", password="tk_secret"),
        email(user="ana", password="tk_secret"),
        check("c1", "Slack", "apprise", {"url": "slack://tk_secret/B/C"}),
    ):
        assert "tk_secret" not in repr(checked)
        assert b"tk_secret" not in msgspec.json.encode(checked.config)
        assert "tk_secret" in str(checked.secrets.values)


def test_a_secret_that_is_not_typed_again_stays() -> None:
    before = ChannelSecrets({"password": "old"})
    changed = check("c1", "Mail", "email", EMAIL | {"user": "ana"}, before=before)
    assert changed.secrets.get("password") == "old"
    replaced = check("c1", "Mail", "email", EMAIL | {"user": "ana", "password": "new"}, before=before)
    assert replaced.secrets.get("password") == "new"


def test_the_service_of_an_apprise_url_may_be_shown() -> None:
    checked = check("c1", "Slack", "apprise", {"url": "Slack://TokenA/TokenB/TokenC"})
    assert checked.config.fields == {"service": "slack"}


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"topic": ""}, "topic", "subscribed"),
        ({"topic": "a/b"}, "topic", "64 letters"),
        ({"topic": "v1"}, "topic", "own pages"),
        ({"topic": "a" * 65}, "topic", "64 letters"),
        ({"topic": "a\nb"}, "topic", "hidden"),
        ({"server": "http://ntfy.sh"}, "server", "https"),
        ({"server": "https://127.0.0.1"}, "server", "public internet"),
        ({"server": "https://[::1]:8443"}, "server", "public internet"),
        ({"server": "https://169.254.169.254"}, "server", "public internet"),
        ({"server": "https://ana:pw@ntfy.sh"}, "server", "own fields"),
        ({"server": "https://ntfy.sh/topic"}, "server", "own fields"),
        ({"server": "file:///etc/passwd"}, "server", "ntfy server"),
        ({"server": "gopher://ntfy.sh"}, "server", "ntfy server"),
        ({"server": "https://ntfy.sh:0"}, "server", "ntfy server"),
        ({"server": "https://a b"}, "server", "ntfy server"),
        ({"server": "https://[::1"}, "server", "ntfy server"),
        ({"token": "tk_x", "user": "ana", "password": "p"}, "token", "either"),
        ({"token": "tk_ü"}, "token", "Copy it again"),
        ({"user": "ana"}, "password", "password"),
        ({"password": "p"}, "user", "user name"),
        ({"user": "a:b", "password": "p"}, "user", "colon"),
        ({"color": "red"}, "kind", "topic"),
        ({"server": "https://" + "a" * 1000}, "server", "too long"),
    ],
)
def test_a_mistake_about_ntfy_is_a_sentence_about_its_field(typed: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(ChannelUnusable, match=words) as caught:
        ntfy(**typed)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"host": ""}, "host", "mail server"),
        ({"host": "smtp.example.com:587"}, "host", "without a port"),
        ({"host": "a..b"}, "host", "mail server"),
        ({"host": "192.168.1.2"}, "host", "public internet"),
        ({"port": "0"}, "port", "65535"),
        ({"port": "99999"}, "port", "65535"),
        ({"port": "٢٥"}, "port", "65535"),
        ({"security": "ssl"}, "security", "starttls, tls, none"),
        ({"security": "none", "host": "8.8.8.8"}, "security", "this machine"),
        ({"user": "ana"}, "password", "password"),
        ({"sender": "hub"}, "sender", "name@example.com"),
        ({"sender": "Hub <hub@example.com>"}, "sender", "name@example.com"),
        ({"sender": "a@b@c"}, "sender", "name@example.com"),
        ({"sender": "hub@example.com\r\nBcc: x@example.com"}, "sender", "hidden"),
        ({"recipients": ""}, "recipients", "at least one"),
        ({"recipients": "ana@example.com, <x@y>"}, "recipients", "name@example.com"),
        ({"recipients": ",".join(f"a{i}@example.com" for i in range(21))}, "recipients", "20"),
        ({"recipients": "ana@example.com> SIZE=1"}, "recipients", "name@example.com"),
    ],
)
def test_a_mistake_about_email_is_a_sentence_about_its_field(typed: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(ChannelUnusable, match=words) as caught:
        email(**typed)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "Apprise URL"),
        ("not a url", "starts with the name"),
        ("exec://rm", "isn't allowed"),
        ("syslog://x", "isn't allowed"),
        ("dbus://x", "isn't allowed"),
        ("file:///etc/passwd", "isn't allowed"),
        ("include://x", "isn't allowed"),
        ("slack://A/B/C?template=/etc/passwd", "Remove these options"),
        ("slack://A/B/C?Template=x", "template"),
        ("json://example.com?redirect=yes;verify=no", "redirect, verify"),
        ("slack://A/B/C\r\nx", "hidden"),
    ],
)
def test_an_apprise_url_that_is_not_allowed_is_not_quoted(url: str, words: str) -> None:
    with pytest.raises(ChannelUnusable, match=words) as caught:
        check("c1", "Other", "apprise", {"url": url})
    assert caught.value.field == "url"
    assert not url or url not in str(caught.value)


def test_a_private_address_works_where_the_hub_allows_it() -> None:
    for server in ("http://192.168.1.2:8080", "https://10.0.0.1", "http://ntfy.lan", "http://[fd00::1]:2586"):
        assert check("c1", "Phone", "ntfy", NTFY | {"server": server}, private=True).config.fields["server"] == server
    with pytest.raises(ChannelUnusable, match="own network"):
        check("c1", "Phone", "ntfy", NTFY | {"server": "http://8.8.8.8"}, private=True)
    assert check("c1", "Mail", "email", EMAIL | {"host": "127.0.0.1", "security": "none"}, private=True)


def test_an_unknown_kind_and_a_bad_name_are_refused() -> None:
    with pytest.raises(ChannelUnusable, match="ntfy, email, apprise"):
        check("c1", "Phone", "pager", {})
    with pytest.raises(ChannelUnusable) as caught:
        check("c1", " ", "ntfy", NTFY)
    assert caught.value.field == "name"


def test_every_field_that_is_required_has_a_sentence() -> None:
    for kind, fields in FIELDS.items():
        for field in (each for each in fields if each.required):
            with pytest.raises(ChannelUnusable, match="Enter"):
                check("c1", "It", kind, {other.name: "x" for other in fields if other.required} | {field.name: ""})


def test_checking_a_channel_imports_no_client() -> None:
    script = (
        "import sys; from handraise.channels import config;"
        "config.check('c', 'n', 'apprise', {'url': 'slack://A/B/C'});"
        "print([each for each in ('httpx2', 'smtplib', 'apprise', 'ssl', 'asyncio') if each in sys.modules])"
    )
    assert run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"
