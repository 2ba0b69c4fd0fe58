"""The checks of a shared database, with a real one: what is right, and what is wrong with the next step."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.certificates import make_certificate
from handraise.config.database import SharedDatabase, shared_database
from handraise.doctor.checks import Finding
from handraise.doctor.database import check_shared
from handraise.doctor.examine import as_text, examine
from postgres.bouncer import Bouncer
from postgres.cluster import PASSWORD, ROLE, SECRETIVE, Cluster, free_port, unprivileged
from postgres.fixtures import new_cluster
from postgres.proxy import Proxy

SECRET = "hunter2"


def shared(url: str) -> SharedDatabase:
    found = shared_database(url)
    assert found is not None
    return found


async def findings(url: str, password: str | None = None) -> list[Finding]:
    found = await check_shared(shared(url), password)
    assert {each.name for each in found} == {"database"}
    assert all(each.advice for each in found if each.verdict != "ok")
    return found


async def the_failure(url: str, password: str | None = None) -> Finding:
    *_, last = await findings(url, password)
    assert last.verdict == "fail"
    return last


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


async def test_a_good_database_has_only_good_findings(database: str) -> None:
    found = await findings(database)

    assert [each.verdict for each in found] == ["ok"] * 6
    assert [each.sentence.split()[0:2] for each in found] == [
        ["Connected", "to"],
        ["The", "schema"],
        ["The", "role"],
        ["Notifications", "arrive"],
        ["This", "machine's"],
        ["The", "server"],
    ]


async def test_nothing_is_changed_in_an_empty_database(cluster: Cluster, empty_database: str) -> None:
    found = await findings(empty_database)

    assert found[1].sentence == "No schema yet. The first hub creates it."
    assert {each.verdict for each in found} == {"ok"}
    assert cluster.run("SELECT to_regnamespace('handraise')", database=name_of(empty_database))[0][0] is None


async def test_what_keeps_a_hub_from_starting_is_said_with_the_next_step(cluster: Cluster) -> None:
    assert "Can't reach" in (await the_failure(f"postgresql://ana@127.0.0.1:{free_port()}/hub")).sentence
    assert "There is no database" in (await the_failure(cluster.url("nowhere"))).sentence

    foreign = cluster.create()
    cluster.run("CREATE TABLE customers (id int)", database=foreign)
    assert "another program" in (await the_failure(cluster.url(foreign))).sentence

    quiet = cluster.create()
    cluster.run(f"ALTER DATABASE {quiet} SET default_transaction_read_only = on")
    assert "is read-only" in (await the_failure(cluster.url(quiet))).sentence

    wrong = await the_failure(cluster.url(cluster.create(), role=SECRETIVE), SECRET)
    assert "rejected the user name or password" in wrong.sentence
    assert SECRET not in f"{wrong}"


async def test_a_newer_schema_is_a_failure(cluster: Cluster, database: str) -> None:
    cluster.run("INSERT INTO handraise.migrations (number) VALUES (999)", database=name_of(database))
    try:
        assert "newer Handraise" in (await the_failure(database)).sentence
    finally:
        cluster.run("DELETE FROM handraise.migrations WHERE number = 999", database=name_of(database))


async def test_rights_that_are_missing_are_named(cluster: Cluster, database: str) -> None:
    name = name_of(database)
    cluster.run("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    cluster.run("GRANT USAGE ON SCHEMA handraise TO guest", database=name)
    cluster.run("GRANT SELECT ON ALL TABLES IN SCHEMA handraise TO guest", database=name)
    url = cluster.url(name, role="guest")
    rights = (await findings(url))[2]
    assert (rights.verdict, "INSERT asks" in rights.sentence) == ("fail", True)
    assert rights.advice.endswith("TO guest")

    cluster.run(rights.advice.partition(": ")[2], database=name)
    assert (await findings(url))[2].verdict == "ok"
    cluster.run("DROP OWNED BY guest", database=name)

    other = cluster.create()
    rights = (await findings(cluster.url(other, role="guest")))[2]
    assert (rights.verdict, "can't create the schema" in rights.sentence) == ("fail", True)
    cluster.run(rights.advice.partition(": ")[2], database=other)
    assert (await findings(cluster.url(other, role="guest")))[2].verdict == "ok"
    cluster.run("DROP OWNED BY guest", database=other)


async def test_a_superuser_is_advised_against(cluster: Cluster, database: str) -> None:
    rights = (await findings(cluster.url(name_of(database), role="postgres")))[2]
    assert (rights.verdict, "superuser" in rights.sentence) == ("warn", True)


async def test_a_pooler_that_swallows_notifications_is_found(cluster: Cluster, database: str) -> None:
    with Bouncer(cluster, "transaction") as pooler:
        found = await findings(pooler.url(database))
    assert "through a pooler" in found[0].sentence
    assert (found[3].verdict, "don't arrive" in found[3].sentence) == ("warn", True)
    assert "session mode" in found[3].advice
    with Bouncer(cluster, "session") as pooler:
        assert (await findings(pooler.url(database)))[3].verdict == "ok"


@pytest.mark.limit(60)
async def test_a_server_that_stops_answering_is_given_up(cluster: Cluster, database: str) -> None:
    async with Proxy(cluster.port) as proxy:
        proxy.freeze_at(b"pg_stat_ssl")
        found = await findings(cluster.url(name_of(database), port=proxy.port))
    assert (found[-1].verdict, "Can't reach" in found[-1].sentence) == ("fail", True)
    assert [each.verdict for each in found[:-1]] == ["ok"] * 5


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("certificate")
    made = folder / "server.pem", folder / "server.key"
    make_certificate(*made)
    return made


@pytest.fixture(scope="module")
def encrypting(certificate: tuple[Path, Path]) -> Iterator[Cluster]:
    with new_cluster() as cluster:
        for file, name in zip(certificate, ("server.crt", "server.key"), strict=True):
            copied = cluster.data / name
            shutil.copy(file, copied)
            copied.chmod(0o600)
            if owner := unprivileged():
                shutil.chown(copied, owner["user"], owner["group"])
        cluster.run("ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()")
        yield cluster


async def test_tls_is_checked_unless_the_server_is_on_this_machine(
    encrypting: Cluster, certificate: tuple[Path, Path]
) -> None:
    # Two servers, which the check takes for remote ones.
    url = f"postgresql://{ROLE}@127.0.0.1:{encrypting.port},127.0.0.1:{encrypting.port}/handraise_ready"
    plain, hidden, full = [
        (await findings(f"{url}?{more}"))[-1]
        for more in ("sslmode=disable", "sslmode=require", f"sslmode=verify-full&sslrootcert={certificate[0]}")
    ]
    assert (plain.verdict, "isn't encrypted" in plain.sentence) == ("warn", True)
    assert (hidden.verdict, "could pose as the server (sslmode=require)" in hidden.sentence) == ("warn", True)
    assert (full.verdict, full.sentence) == ("ok", "The connection uses TLS, and the server's certificate is checked.")
    assert "sslmode=verify-full" in hidden.advice

    unknown = await the_failure(f"{url}?sslmode=verify-full&sslrootcert=/etc/ssl/certs/ca-certificates.crt")
    assert "certificate" in unknown.sentence.lower()


async def test_a_password_in_the_url_works_and_is_advised_against_and_never_shown(
    cluster: Cluster, tmp_path: Path
) -> None:
    name = cluster.create()
    cluster.run(f"ALTER DATABASE {name} OWNER TO {SECRETIVE}")
    url = cluster.url(name, role=f"{SECRETIVE}:{PASSWORD.replace(' ', '%20')}")
    file = tmp_path / "handraise.toml"
    file.write_text(f'[store]\ndatabase = "{url}"\n[limits]\nparallel = 0\n')
    file.chmod(0o644)
    environ = {"HANDRAISE_CONFIG": str(file), "HANDRAISE_STATE": str(tmp_path / "state")}

    text = as_text(await examine(environ, tmp_path))

    assert "warn  secrets   Other users can read the database's password in" in text
    assert "The password is part of the URL" in text
    assert "Connected to 127.0.0.1" in text
    assert "Not needed: this hub is a gateway" in text
    assert PASSWORD.partition(" ")[0] not in text

    file.write_text(f'[store]\ndatabase = "{cluster.url(name, role=SECRETIVE)}"\npassword_file = "password"\n')
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "password").chmod(0o644)
    text = as_text(await examine(environ, tmp_path))
    assert "Other users can access" in text
    (tmp_path / "password").chmod(0o600)
    text = as_text(await examine(environ, tmp_path))
    assert "Connected to 127.0.0.1" in text
    assert PASSWORD.partition(" ")[0] not in text


async def test_a_missing_certificate_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "handraise.toml"
    file.write_text('[store]\ndatabase = "postgresql://ana@db.example/hub?sslmode=verify-full"\n')
    file.chmod(0o600)
    report = await examine({"HANDRAISE_CONFIG": str(file), "HANDRAISE_STATE": str(tmp_path / "state")}, tmp_path)
    [found] = [each for each in report.findings if each.name == "database"]
    assert (found.verdict, "Add sslrootcert=FILE to the database URL" in found.sentence) == ("fail", True)
