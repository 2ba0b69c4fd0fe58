"""Where the database is: what is understood, and what is refused with what would be."""

import pytest

from handraise.config.database import database_file
from handraise.config.reading import read_settings
from handraise.config.tables import SettingsRefused

SUPPORTED = "a database is sqlite:///ABSOLUTE/PATH, or just an absolute path."


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
        ("postgresql://ana:secret@db.example/hub", "postgresql is not supported"),
        ("mysql:hub", "mysql is not supported"),
        ("file:///srv/hub.db", "file is not supported"),
        ("C:\\hub.db", "C is not supported"),
        ("sqlite://db.example/hub.db", "no host in its URL"),
        ("sqlite:///srv/hub.db?mode=ro", "Nothing follows the path"),
        ("sqlite:///srv/hub.db#main", "Nothing follows the path"),
        ("sqlite://", "which file is meant"),
        ("sqlite::memory:", "which file is meant"),
        ("sqlite:hub.db", "which file is meant"),
        (":memory:", "which file is meant"),
        ("hub.db", "which file is meant"),
        ("./hub.db", "which file is meant"),
        ("", "which file is meant"),
        ("/srv/hub\0.db", "which file is meant"),
        ("sqlite:///srv/hub%00.db", "which file is meant"),
        ("sqlite:///", "names a folder"),
        ("/srv/handraise/", "names a folder"),
        ("/srv/..", "names a folder"),
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
    with pytest.raises(SettingsRefused, match=r"\[store\] database: postgresql is not supported") as refused:
        read_settings("", {"HANDRAISE_STORE_DATABASE": "postgresql://ana:secret@db.example/hub"})
    assert "secret" not in str(refused.value)
