"""The bot that the settings describe."""

from datetime import UTC, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from handraise.cli.hub_settings import service
from handraise.cli.telegram_config import telegram_config
from handraise.config.reading import read_settings
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, QuietHours, TelegramConfig

TOKEN = "12345:abcdefghijklmnopqrstuvwxyz"
SETTINGS = """
[telegram]
token_file = "bot"
allowed = [1001, 1002]
names = {1001 = "ana"}
roles = {1001 = "admin"}
chats = [-100200]
routes = {shop = "-100200:5"}
quiet_hours = "22:00-07:30"
time_zone = "Europe/Berlin"
api = "http://127.0.0.1:8081/"
session_topics = true
"""


def environ(folder: Path, text: str = SETTINGS, mode: int = 0o600) -> dict[str, str]:
    for name, content in (("handraise.toml", text), ("bot", TOKEN)):
        (folder / name).write_text(content)
        (folder / name).chmod(mode)
    return {"HANDRAISE_CONFIG": str(folder / "handraise.toml"), "PATH": "/usr/bin:/bin"}


def test_the_settings_reach_the_bot_and_its_file_is_hidden_from_claude(tmp_path: Path) -> None:
    made = service(environ(tmp_path), tmp_path / "state", None, None)

    assert made.telegram == TelegramConfig(
        token=TOKEN,
        members=(Member(1001, "ana", "admin"), Member(1002, "1002", "approver")),
        chats=(ChatPlace(-100200),),
        routes={"shop": ChatPlace(-100200, 5)},
        quiet=QuietHours(time(22), time(7, 30), ZoneInfo("Europe/Berlin")),
        api="http://127.0.0.1:8081",
        session_topics=True,
    )
    assert tmp_path / "bot" in made.hidden
    assert TOKEN not in repr(made)


def test_without_a_token_there_is_no_bot(tmp_path: Path) -> None:
    assert service(environ(tmp_path, ""), tmp_path / "state", None, None).telegram is None


def test_a_token_that_others_can_read_is_not_used_and_the_hub_runs_on(tmp_path: Path) -> None:
    made = service(environ(tmp_path, mode=0o644), tmp_path / "state", None, None)

    assert made.telegram is None
    assert made.telegram_trouble.endswith(f"Run: chmod 600 {tmp_path}/bot")


@pytest.mark.parametrize(("zone", "hour"), [("", None), ("Asia/Tokyo", 9), (":Asia/Tokyo", 9), ("nonsense", 0)])
def test_quiet_hours_are_in_the_time_zone_of_this_machine_unless_one_is_set(zone: str, hour: int | None) -> None:
    text = f"[telegram]\ntoken = '{TOKEN}'\nallowed = [1]\nquiet_hours = '22:00-07:00'"

    config = telegram_config(read_settings(text, {}).telegram, {"TZ": zone})

    assert config is not None
    assert config.quiet is not None
    shown = datetime(2026, 1, 1, tzinfo=UTC).astimezone(config.quiet.zone)
    assert hour is None or shown.hour == hour
