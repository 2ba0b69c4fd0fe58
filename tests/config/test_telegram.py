"""`[telegram]`: what it means, what is refused and how, and where the token comes from."""

import os
from pathlib import Path

import pytest

from handraise.config.files import bot_token, read_token, token_file
from handraise.config.reading import Layers, ValueSource, effective, read_settings
from handraise.config.tables import SettingsRefused
from handraise.config.telegram import TelegramSettings, hours, place

TOKEN = "12345:abcdefghijklmnopqrstuvwxyz"
OTHER = "67890:ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FULL = f"""
[telegram]
token = "{TOKEN}"
allowed = [1001, 1002, 1001]
chats = [-100200, "-100300:17"]
names = {{1001 = "ana"}}
quiet_hours = "22:00-07:30"
time_zone = "Europe/Berlin"
api = "http://127.0.0.1:8081"
session_topics = true
[telegram.roles]
1001 = "admin"
[telegram.routes]
shop = "-100200:5"
docs = -100400
"""


def telegram(text: str, environ: dict[str, str] | None = None) -> TelegramSettings:
    return read_settings(text, environ or {}).telegram


def refusal(text: str, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsRefused) as refused:
        telegram(text, environ)
    assert TOKEN not in str(refused.value)
    return str(refused.value)


def test_the_section_says_who_and_where() -> None:
    settings = telegram(FULL)

    assert settings.is_on
    assert settings.member_numbers == (1001, 1002)
    assert (settings.name_of(1001), settings.role_of(1001)) == ("ana", "admin")
    assert settings.places == ((-100200, None), (-100300, 17))
    assert settings.routed == {"shop": (-100200, 5), "docs": (-100400, None)}
    assert settings.session_topics


def test_an_allowed_user_without_a_name_or_role_is_a_number_and_an_approver() -> None:
    settings = telegram(FULL)

    assert (settings.name_of(1002), settings.role_of(1002)) == ("1002", "approver")


def test_without_a_section_there_is_no_bot() -> None:
    assert not telegram("").is_on


def test_every_key_has_a_variable() -> None:
    settings = telegram(
        "",
        {
            "HANDRAISE_TELEGRAM_TOKEN": TOKEN,
            "HANDRAISE_TELEGRAM_ALLOWED": "1001, 1002",
            "HANDRAISE_TELEGRAM_CHATS": "-100200, -100300:17",
            "HANDRAISE_TELEGRAM_NAMES": "1001=ana, 1002=ben",
            "HANDRAISE_TELEGRAM_ROLES": '{1002 = "viewer"}',
            "HANDRAISE_TELEGRAM_ROUTES": "shop=-100200:5",
            "HANDRAISE_TELEGRAM_QUIET_HOURS": "22:00-07:00",
            "HANDRAISE_TELEGRAM_TIME_ZONE": "UTC",
            "HANDRAISE_TELEGRAM_API": "https://bots.example/",
            "HANDRAISE_TELEGRAM_SESSION_TOPICS": "true",
        },
    )

    assert settings.places == ((-100200, None), (-100300, 17))
    assert [settings.name_of(each) for each in settings.member_numbers] == ["ana", "ben"]
    assert settings.role_of(1002) == "viewer"
    assert settings.routed == {"shop": (-100200, 5)}
    assert (settings.quiet_hours, settings.time_zone, settings.session_topics) == ("22:00-07:00", "UTC", True)


BOT = f"[telegram]\ntoken = '{TOKEN}'\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOT, "[telegram] has a bot, but nobody can use it. Run `handraise telegram setup`"),
        ("[telegram]\ntoken_file = 't'", "nobody can use it"),
        (f"{BOT}token_file = 't'\nallowed = [1]", "token and token_file are both set. Remove one of them."),
        ("[telegram]\ntoken = 'hunter2'", "telegram.token must be a string (from BotFather, such as"),
        ("[telegram]\nallowed = [-100200]", "-100200 is a group; add it to chats."),
        ("[telegram]\nallowed = [0]", "allowed takes user IDs."),
        ("[telegram]\nchats = ['@shop']", "telegram.chats must be a list (chats such as -1001234, or topics"),
        ("[telegram]\nallowed = [9999999999999999]", "allowed takes user IDs. 9999999999999999 isn't one."),
        ("[telegram]\nchats = [0]", "chats takes chat IDs. 0 isn't one."),
        ("[telegram]\nchats = [-99999999999999999999]", "chats takes chat IDs. -99999999999999999999 isn't one."),
        ("[telegram]\nchats = ['-9999999999999999']", "chats takes chat IDs. -9999999999999999 isn't one."),
        ("[telegram]\nchats = ['-1001234:0']", "telegram.chats must be a list"),
        ("[telegram]\nroutes = {shop = 0}", "routes takes chat IDs. 0 isn't one."),
        ("[telegram]\nroutes = {shop = '-1001:4294967296'}", "routes takes chat IDs. -1001:4294967296 isn't one."),
        ("[telegram]\nalowed = [1]", "alowed"),
        ("[telegram]\nallowed = [1]\nnames = {2 = 'ben'}", "names has '2', which isn't a user in allowed. Add"),
        ("[telegram]\nallowed = [1]\nroles = {2 = 'admin'}", "roles has '2', which isn't a user in allowed."),
        ("[telegram]\nallowed = [1]\nroles = {1 = 'agent'}", "roles are viewer, approver and admin"),
        ("[telegram]\nallowed = [1, 2]\nnames = {1 = 'a', 2 = 'a'}", "names calls two users 'a'. Use different"),
        ("[telegram]\nallowed = [1, 2]\nnames = {1 = '2'}", "names calls two users '2'."),
        ("[telegram]\nallowed = [1]\nnames = {1 = ''}", "telegram.names must be a table (for example"),
        ("[telegram]\nallowed = [1]\nnames = {1 = 'a\u202eb'}", "[telegram] names: "),
        ("[telegram]\nroutes = {shop = 'general'}", "telegram.routes must be a table (for example {shop ="),
        ("[telegram]\nroutes = 'shop'", "telegram.routes must be a table"),
        ("[telegram]\nquiet_hours = '22-7'", 'telegram.quiet_hours must be a string (for example "22:00-07:00").'),
        ("[telegram]\nquiet_hours = '24:00-07:00'", "telegram.quiet_hours must be"),
        ("[telegram]\nquiet_hours = '07:00-07:00'", "must start and end at different times"),
        ("[telegram]\ntime_zone = 'Berlin'", "time_zone must be a name such as Europe/Berlin. 'Berlin' isn't one."),
        ("[telegram]\ntime_zone = '../../etc/passwd'", "time_zone must be a name"),
        ("[telegram]\napi = 'api.telegram.org'", "api must be the address of a Bot API server"),
        ("[telegram]\napi = 'ftp://x'", "api must be the address"),
        ("[telegram]\napi = 'http://u:p@x'", "without a user, a query or the token"),
        ("[telegram]\napi = 'http://x:99999'", "api must be the address"),
        (f"[telegram]\napi = 'https://api.telegram.org/bot{TOKEN}'", "without a user, a query or the token"),
    ],
)
def test_a_wrong_value_is_refused_with_the_next_step(text: str, sentence: str) -> None:  # lesson 57
    assert sentence in refusal(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [("ROUTES", "shop"), ("NAMES", "ana"), ("CHATS", "here"), ("QUIET_HOURS", "night"), ("ALLOWED", "ana")],
)
def test_a_wrong_variable_is_refused_by_its_name(name: str, text: str) -> None:
    sentence = refusal("", {f"HANDRAISE_TELEGRAM_{name}": text})

    assert sentence.startswith(f"HANDRAISE_TELEGRAM_{name}: telegram.{name.lower()} must be")


def test_a_token_of_a_variable_replaces_the_token_file_of_the_settings() -> None:
    text = "[telegram]\ntoken_file = 'bot'\nallowed = [1]"
    layers = Layers(text, environ={"HANDRAISE_TELEGRAM_TOKEN": TOKEN})

    shown = {each.key: (each.value, each.source) for each in effective(layers)}

    assert shown["telegram.token"] == ("set", ValueSource("environment", "HANDRAISE_TELEGRAM_TOKEN"))
    assert shown["telegram.token_file"] == (None, ValueSource("default"))


def private(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_token_comes_from_the_settings_or_from_a_file_beside_them(tmp_path: Path) -> None:
    environ = {"HANDRAISE_CONFIG": str(tmp_path / "handraise.toml")}
    private(tmp_path / "bot", f"{OTHER}\n")
    beside = telegram("[telegram]\ntoken_file = 'bot'\nallowed = [1]")

    assert bot_token(telegram(BOT + "allowed = [1]"), environ) == TOKEN
    assert (token_file(beside, environ), bot_token(beside, environ)) == (tmp_path / "bot", OTHER)
    assert bot_token(TelegramSettings(), environ) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_token_file_that_others_can_read_is_refused_with_the_command_to_run(tmp_path: Path, mode: int) -> None:
    file = private(tmp_path / "bot", TOKEN, mode)

    with pytest.raises(SettingsRefused, match=rf"Run: chmod 600 {file}$"):
        read_token(file)


@pytest.mark.parametrize("text", ["", "hunter2", f"{TOKEN} {TOKEN}", f"{TOKEN}\n{TOKEN}", "x" * 2000])
def test_a_file_without_a_token_is_refused_and_its_text_is_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsRefused, match="token") as refused:
        read_token(private(tmp_path / "bot", text))

    assert not text or text not in str(refused.value)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)

    with pytest.raises(SettingsRefused, match="isn't a file with the bot's token"):
        read_token(tmp_path / "pipe")
    with pytest.raises(SettingsRefused, match=r"No such file or directory\. Run: handraise telegram setup"):
        read_token(tmp_path / "none")


def test_places_and_hours_are_read_as_they_are_written() -> None:
    assert (place(-5), place("-5"), place("7:1")) == ((-5, None), (-5, None), (7, 1))
    assert hours("22:00-07:30") == (1320, 450)
