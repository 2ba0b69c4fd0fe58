"""The database's location: what is accepted, and what is refused with a hint."""

import pytest

from handraise.config.database import SharedDatabase, database_file, read_database, shared_database
from handraise.config.reading import Layers, effective, read_settings
from handraise.config.tables import SettingsRefused

SUPPORTED = "Use sqlite:///ABSOLUTE/PATH or an absolute path, or postgresql://USER@HOST/DATABASE."


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
        ("postgresqls://ana:secret@db.example/hub", "postgresqls isn't supported"),
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
        ("/srv/hub\0.db", "isn't a full path"),
        ("sqlite:///srv/hub%00.db", "isn't a full path"),
        ("sqlite:///", "is a folder"),
        ("/srv/handraise/", "is a folder"),
        ("/srv/..", "is a folder"),
    ],
)
def test_anything_else_is_refused_with_what_is_supported(named: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        read_database(named)
    assert str(refused.value).endswith(SUPPORTED)
    assert "secret" not in str(refused.value)


def test_it_is_a_setting_and_a_variable() -> None:
    text = '[store]\ndatabase = "sqlite:///srv/hub.db"\n'
    assert read_settings(text, {}).store.database == "sqlite:///srv/hub.db"
    over = {"HANDRAISE_STORE_DATABASE": "/other/hub.db"}
    assert read_settings(text, over).store.database == "/other/hub.db"
    with pytest.raises(SettingsRefused, match=r"\[store\] database: mysql isn't supported") as refused:
        read_settings("", {"HANDRAISE_STORE_DATABASE": "mysql://ana:secret@db.example/hub"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("named", "shown", "has_password"),
    [
        ("postgresql://db.example/hub", "postgresql://db.example/hub", False),
        ("postgres://ana@db.example:5433/hub", "postgresql://ana@db.example:5433/hub", False),
        ("postgresql://ana:secret@db.example/hub", "postgresql://ana@db.example/hub", True),
        ("postgresql://ana@[::1]:5433/hub", "postgresql://ana@[::1]:5433/hub", False),
        ("postgresql://ana@a.example,b.example:5433/hub", "postgresql://ana@a.example,b.example:5433/hub", False),
        (
            "postgresql://ana@db/hub?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            "postgresql://ana@db/hub?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            False,
        ),
        ("postgresql:///hub?host=/run/postgresql", "postgresql:///hub?host=/run/postgresql", False),
        ("postgresql:///hub?user=ana&password=secret", "postgresql:///hub?user=ana", True),
        ("postgresql://ana@db/hub?target_session_attrs=primary", None, False),
        ("postgresql://ana@db?dbname=hub", None, False),
    ],
)
def test_a_url_of_postgresql_names_a_shared_database_and_is_shown_without_its_password(
    named: str, shown: str | None, has_password: bool
) -> None:
    found = shared_database(named)
    assert isinstance(found, SharedDatabase)
    assert (found.url, found.shown, found.has_password) == (named, shown or named, has_password)
    assert "secret" not in repr(found)
    assert database_file(named) is None


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("postgresql:", "names no database"),
        ("postgresql://", "names no database"),
        ("postgresql://ana:secret@db.example", "names no database"),
        ("postgresql://ana:secret@db.example/", "names no database"),
        ("postgresql://ana:secret@db.example/hub?sslmode=on", "sslmode in the PostgreSQL URL must be one of disable"),
        ("postgresql://ana:secret@db.example/hub?sslmod=require", "did you mean sslmode?"),
        ("postgresql://ana:secret@db.example/hub?target_session_attrs=standby", "must be one of any, primary"),
        ("postgresql://ana:secret@db.example/hub?sslmode=require&sslmode=disable", "names a parameter twice"),
        ("postgresql://ana:secret@db.example/hub?verbose", "can't be read"),
        ("postgresql://ana:secret@db.example:port/hub", "The port in the PostgreSQL URL isn't a number"),
        ("postgresql://ana:secret@db.example:70000/hub", "The port in the PostgreSQL URL isn't a number"),
        ("postgresql://ana:sec/secret@db.example/hub", "The port in the PostgreSQL URL isn't a number"),
        ("postgresql://ana:secret#1@db.example/hub", "write %23"),
        ("postgresql://ana:se@cret@db.example/hub", "write %40"),
        ("postgresql://ana:secret@db.example/hub/two", "write %2F"),
        ("postgresql://ana:secret@[::1/hub", "can't be read"),
        ("postgresql://ana:se cret@db.example/hub", "Percent-encode it"),
        ("postgresql://ana:secret@db.example/hub\n", "hidden character"),
    ],
)
def test_a_wrong_url_of_postgresql_is_refused_with_the_reason_and_without_the_password(named: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("?", "[?]")) as refused:
        read_database(named)
    assert "secret" not in str(refused.value)
    assert "cret" not in str(refused.value).replace("secretive", "")


def test_what_is_shown_of_the_settings_has_no_password() -> None:
    layers = Layers('[store]\ndatabase = "postgresql://ana:secret@db.example/hub"\n')
    shown = {each.key: each.value for each in effective(layers)}
    assert shown["store.database"] == "postgresql://ana@db.example/hub"


def test_a_password_in_the_url_and_in_a_file_contradict_each_other() -> None:
    url = "postgresql://ana:secret@db.example/hub"
    with pytest.raises(SettingsRefused, match="Remove it from the URL") as refused:
        read_settings(f'[store]\ndatabase = "{url}"\npassword_file = "password"\n', {})
    assert "secret" not in str(refused.value)


def test_a_machines_name_is_short_and_visible() -> None:
    assert read_settings('[machine]\nname = "build-2"\n', {}).machine.name == "build-2"
    for name in ("", "x" * 61, " build", "bu\u202eild"):
        with pytest.raises(SettingsRefused, match="name must"):
            read_settings(f'[machine]\nname = "{name}"\n', {})
