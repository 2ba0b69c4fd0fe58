"""The database's location: what is accepted, and what is refused with a hint."""

import pytest

from handraise.config.reading import read_settings
from handraise.config.settings import database_file
from handraise.config.tables import SettingsRefused

SUPPORTED = "Use sqlite:///ABSOLUTE/PATH or an absolute path."


@pytest.mark.parametrize(
    ("named", "file"),
    [
        ("sqlite:///srv/handraise/hub.db", "/srv/handraise/hub.db"),
        ("SQLite:///srv/hub.db", "/srv/hub.db"),
        ("sqlite:////srv/hub.db", "/srv/hub.db"),
        ("sqlite:///srv/with%20space%3F.db", "/srv/with space?.db"),
        ("sqlite:/srv/hub.db", "/srv/hub.db"),
        ("/srv/hub.db", "/srv/hub.db"),
        ("/srv/50%25 of it?.db", "/srv/50%25 of it?.db"),
        ("~/hub.db", "~/hub.db"),
    ],
)
def test_a_url_or_a_path_names_a_file(named: str, file: str) -> None:
    assert database_file(named) == file


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("postgresql://ana:secret@db.example/hub", "postgresql isn't supported"),
        ("mysql:hub", "mysql isn't supported"),
        ("file:///srv/hub.db", "file isn't supported"),
        ("C:\\hub.db", "C isn't supported"),
        ("sqlite://db.example/hub.db", "can't have a host"),
        ("sqlite:///srv/hub.db?mode=ro", "must end after the path"),
        ("sqlite:///srv/hub.db#main", "must end after the path"),
        ("sqlite://", "isn't a full path"),
        ("sqlite::memory:", "isn't a full path"),
        ("sqlite:hub.db", "isn't a full path"),
        (":memory:", "isn't a full path"),
        ("hub.db", "isn't a full path"),
        ("./hub.db", "isn't a full path"),
        ("", "isn't a full path"),
        ("/srv/hub\0.db", "isn't a full path"),
        ("sqlite:///srv/hub%00.db", "isn't a full path"),
        ("sqlite:///", "is a folder"),
        ("/srv/handraise/", "is a folder"),
        ("/srv/..", "is a folder"),
    ],
)
def test_anything_else_is_refused_with_what_is_supported(named: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        database_file(named)
    assert str(refused.value).endswith(SUPPORTED)
    assert "secret" not in str(refused.value)


def test_it_is_a_setting_and_a_variable() -> None:
    text = '[store]\ndatabase = "sqlite:///srv/hub.db"\n'
    assert read_settings(text, {}).store.database == "sqlite:///srv/hub.db"
    over = {"HANDRAISE_STORE_DATABASE": "/other/hub.db"}
    assert read_settings(text, over).store.database == "/other/hub.db"
    with pytest.raises(SettingsRefused, match=r"\[store\] database: postgresql isn't supported") as refused:
        read_settings("", {"HANDRAISE_STORE_DATABASE": "postgresql://ana:secret@db.example/hub"})
    assert "secret" not in str(refused.value)
