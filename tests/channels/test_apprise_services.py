"""Apprise's services: each of the installed version is either allowed or refused on purpose."""

import inspect
import re
from pathlib import Path

import pytest
from apprise.manager_plugins import NotificationManager

from handraise.channels.apprise_services import ALLOWED, REFUSED, is_allowed, read_schema, unusable_options

LOCAL = re.compile(
    r"^\s*(?:import|from)\s+(?:subprocess|ctypes|dbus|gi|win32\w*|syslog|smtplib|socket|pty)\b", re.MULTILINE
)


def test_no_service_is_both_and_each_that_is_installed_is_one() -> None:
    assert ALLOWED.isdisjoint(REFUSED)
    assert set(NotificationManager().schemas()) - ALLOWED - REFUSED == set()


def test_no_allowed_service_uses_the_machine_or_a_connection_of_its_own() -> None:
    manager = NotificationManager()
    wrong = {}
    for schema in ALLOWED & set(manager.schemas()):
        if found := LOCAL.findall(Path(inspect.getfile(manager[schema])).read_text()):
            wrong[schema] = found
    assert wrong == {}


@pytest.mark.parametrize(
    "schema",
    ["exec", "dbus", "gnome", "kde", "macosx", "windows", "syslog", "file", "include", "http", "https", "blink1"],
)
def test_nothing_local_is_allowed(schema: str) -> None:
    assert not is_allowed(schema)


@pytest.mark.parametrize(
    ("url", "schema"),
    [
        ("slack://A/B/C", "slack"),
        ("JSON://x", "json"),
        ("slack:/A", None),
        ("", None),
        ("sl ack://x", None),
        ("x:// y", None),
    ],
)
def test_a_url_names_its_service(url: str, schema: str | None) -> None:
    assert read_schema(url) == schema


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("json://example.com/?x=1", []),
        ("json://example.com/?verify=no&retry=5&ReDirect=yes", ["redirect", "retry", "verify"]),
        ("slack://A/B/C?template=x", ["template"]),
        ("sendgrid://A:B/C?template=d-1", []),
        ("ntfys://x?attach=/etc/passwd", ["attach"]),
        ("json://x?%72etry=3", ["retry"]),
        ("json://x?+verify=no", ["verify"]),
        ("json://x?a?retry=1", []),
        ("json://x?a=1?retry=1", []),
    ],
)
def test_options_that_a_url_may_not_set_are_found(url: str, options: list[str]) -> None:
    assert unusable_options(url) == options
