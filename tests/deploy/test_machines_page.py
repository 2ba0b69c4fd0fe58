"""docs/machines.md: what it tells people to type works."""

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from cli.parsing import parsed
from handraise.cli.main import main
from handraise.config.database import SharedDatabase, shared_database
from handraise.config.reading import read_settings
from handraise.doctor.database import check_shared
from handraise.store.postgres.store import PostgresStore
from postgres.cluster import Cluster
from postgres.fixtures import new_cluster
from store.examples import a_text, texts_of

PAGE = (Path(__file__).parents[2] / "docs" / "machines.md").read_text("utf-8")
READY = "handraise_ready"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def commands(program: str) -> list[list[str]]:
    lines = [shlex.split(line) for block in blocks("sh") for line in block.splitlines()]
    return [words[1:] for words in lines if words[0] == program]


def test_every_settings_block_is_valid() -> None:
    assert len(blocks("toml")) >= 5
    for block in blocks("toml"):
        tomllib.loads(block)
        read_settings(block, {})


@pytest.mark.parametrize("words", commands("handraise"), ids=" ".join)
def test_every_command_exists_with_its_arguments(words: list[str]) -> None:
    words = words[: words.index(">")] if ">" in words else words
    parsed(words)


def test_the_commands_in_sentences_exist() -> None:
    for words in re.findall(r"`handraise ([a-z ]+)[^`]*`", PAGE):
        command: click.Command | None = main
        for word in words.split():
            if isinstance(command, click.Group):
                command = command.get_command(click.Context(main), word)
        assert command is not None, words


async def test_the_roles_can_do_what_a_hub_needs_and_a_backup_restores_everything(tmp_path: Path) -> None:
    dump, restore = shutil.which("pg_dump"), shutil.which("pg_restore")
    if dump is None or restore is None:
        pytest.skip("pg_dump is not installed")
    owners, users = blocks("sql")
    with new_cluster() as cluster:
        cluster.run(f"DROP DATABASE {READY}", "DROP ROLE handraise")
        _execute(cluster, owners, "postgres")
        owner = cluster.url("handraise")
        async with PostgresStore(owner) as store:
            await store.apply([a_text("by the owner")])
        _execute(cluster, users, "handraise")
        gateway = cluster.url("handraise", role="handraise_gateway")
        async with PostgresStore(gateway) as store:
            await store.apply([a_text("by the gateway")])
        for url in (owner, gateway):
            assert {each.verdict for each in await check_shared(_shared(url), None)} == {"ok"}

        [dumped], [restored] = commands("pg_dump"), commands("pg_restore")
        subprocess.run([dump, *_here(dumped, owner)], cwd=tmp_path, check=True)
        cluster.run("DROP DATABASE handraise WITH (FORCE)", "CREATE DATABASE handraise OWNER handraise")
        subprocess.run([restore, *_here(restored, owner)], cwd=tmp_path, check=True)
        async with PostgresStore(owner) as store:
            assert texts_of(await store.items(after=0)) == ["by the owner", "by the gateway"]
            await store.apply([a_text("and on")])


def _execute(cluster: Cluster, script: str, database: str) -> None:
    for statement in filter(str.strip, script.split(";")):
        cluster.run(statement, database=database)


def _here(words: list[str], url: str) -> list[str]:
    return [re.sub(r"postgresql://.*", url, word) for word in words]


def _shared(url: str) -> SharedDatabase:
    found = shared_database(url)
    assert found is not None
    return found
