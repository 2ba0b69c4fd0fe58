"""`handraise store`: the database as a whole."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from handraise.config.database import SharedDatabase
    from handraise.config.settings import Settings
    from handraise.store.copying import CopiedTable, CopySource, CopyTarget


@click.group()
def store() -> None:
    """Copy the database, for example from SQLite to PostgreSQL."""


@store.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy(source: str, target: str) -> None:
    """Copy everything from one database to another that is empty.

    FROM and TO are each a path, sqlite:///PATH or postgresql://USER@HOST/NAME. Stop the hubs first.

    Every row is read back and compared before the copy counts. If anything goes wrong, TO stays as it was.

    \b
    handraise store copy ~/.local/state/handraise/hub.db postgresql://handraise@db.example/handraise
    """
    from handraise import texts
    from handraise.config.files import load_layers
    from handraise.config.reading import read_layers
    from handraise.config.tables import SettingsRefused
    from handraise.hub.hub import HubRunning, StateExposed, StateUnreachable
    from handraise.store.interface import StoreError

    try:
        settings = read_layers(load_layers(os.environ))
        texts.use(settings.language)
        places = [_place(named, argument) for named, argument in ((source, "FROM"), (target, "TO"))]
        if places[0] == places[1]:
            raise click.UsageError("FROM and TO are the same database.")
        with ExitStack() as locks:
            for place in places:
                if isinstance(place, Path):
                    locks.enter_context(_without_hub(place, creating=place is places[1]))
            from_side, to_side = _sides(places[0], places[1], settings, os.environ)
            copied = asyncio.run(_copied(from_side, to_side))
    except (SettingsRefused, StoreError, HubRunning, StateExposed, StateUnreachable) as error:
        raise click.ClickException(str(error)) from error
    total = sum(each.rows for each in copied.values())
    click.echo(f"Copied and compared {total:,} rows: {from_side.shown} → {to_side.shown}")


def _place(named: str, argument: str) -> "Path | SharedDatabase":
    from handraise.config.database import SharedDatabase, read_database

    try:
        found = read_database(named if ":" in named or named.startswith("~") else str(Path(named).absolute()))
    except ValueError as error:
        raise click.UsageError(f"{argument}: {error}") from error
    if not isinstance(found, SharedDatabase):
        return Path(found).expanduser()
    if found.has_password:
        raise click.UsageError(
            f"{argument}: other users can see a password on the command line. Remove it from the URL, and put it into a"
            " file: [store] password_file or PGPASSFILE."
        )
    return found


@contextmanager
def _without_hub(file: Path, *, creating: bool) -> Iterator[None]:
    """Holds the locks of a hub that would use this file, whether it is in its state folder or named in the settings."""
    from handraise.hub.hub import DATABASE, locked, make_private

    if creating:
        make_private(file.parent)
    elif not file.parent.is_dir():
        yield
        return
    with ExitStack() as locks:
        locks.enter_context(locked(file.with_name(f"{file.name}.lock"), file))
        if file.name == DATABASE:
            locks.enter_context(locked(file.with_name("hub.lock"), file.parent))
        yield


def _sides(
    source: "Path | SharedDatabase", target: "Path | SharedDatabase", settings: "Settings", environ: Mapping[str, str]
) -> "tuple[CopySource, CopyTarget]":
    from handraise.cli.hub_settings import address_of
    from handraise.store.sqlite.copying import SqliteSource, SqliteTarget

    from_side: CopySource
    to_side: CopyTarget
    if isinstance(source, Path):
        from_side = SqliteSource(source)
    else:
        address = address_of(source, _password(source, settings, environ))
        from handraise.store.postgres.copying import PostgresSource

        from_side = PostgresSource(address)
    if isinstance(target, Path):
        to_side = SqliteTarget(target)
    else:
        address = address_of(target, _password(target, settings, environ))
        from handraise.store.postgres.copying import PostgresTarget

        to_side = PostgresTarget(address)
    return from_side, to_side


def _password(shared: "SharedDatabase", settings: "Settings", environ: Mapping[str, str]) -> str | None:
    """That of the settings is for the server and user that the settings name. PGPASSFILE has others."""
    from handraise.config.database import shared_database
    from handraise.config.files import database_password

    own = shared_database(settings.store.database)
    if own is None or own.server != shared.server:
        return None
    return database_password(settings.store, environ)


async def _copied(source: "CopySource", target: "CopyTarget") -> "dict[str, CopiedTable]":
    from handraise.store.copying import copy as copy_rows

    progress = _Progress()
    try:
        async with source, target:
            return await copy_rows(source, target, progress.show)
    finally:
        progress.end()


class _Progress:
    """One line on a terminal, and nothing elsewhere."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._shown = False

    def show(self, table: str, done: int, total: int) -> None:
        if self._on:
            share = f" ({100 * done // total} %)" if total else ""
            click.echo(f"\r\x1b[K{table}: {done:,} of {total:,}{share}", nl=False, err=True)
            self._shown = True

    def end(self) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)
