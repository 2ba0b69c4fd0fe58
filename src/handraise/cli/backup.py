"""`handraise backup` and `handraise restore`: what a hub keeps, in one file."""

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handraise.cli.places import options_of, state_folder, state_option
from handraise.client.logins import HubChoice

if TYPE_CHECKING:
    from handraise.backup.archive import Archive
    from handraise.backup.restoring import RestoredState, RestoreTarget
    from handraise.config.settings import Settings

database_option = click.option(
    "--database", metavar="PATH", help="The hub's database, if `handraise serve --database` names one."
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@state_option
@database_option
@click.option("--all-journals", is_flag=True, help="Include Claude's raw output of sessions that have ended, too.")
@click.option(
    "--no-conversations",
    is_flag=True,
    help="Leave out Claude Code's own files of its conversations. Without them, sessions can't be resumed elsewhere.",
)
@click.option("-f", "--force", is_flag=True, help="Replace FILE if it exists.")
def backup(
    file: Path, state: str | None, database: str | None, all_journals: bool, no_conversations: bool, force: bool
) -> None:
    """Save everything the hub keeps in one file, while it runs.

    FILE has the database, the journals of sessions that haven't ended, Claude's conversations, keys, Telegram's ledger,
    and your settings with the tokens and passwords beside them. Keep it as safe as a password: only you can read it.

    \b
    handraise backup ~/handraise-backup.zip
    """
    from handraise.backup.saving import BackupSource, save
    from handraise.hub.hub import now

    with _in_words():
        folder, settings = state_folder(state), _settings(os.environ)
        source = BackupSource(
            folder.absolute(),
            settings.machine.name or socket.gethostname(),
            _database(database or settings.store.database, folder),
            _settings_file(os.environ),
            _named(settings, os.environ),
            None if no_conversations else _claude_folder(os.environ),
            all_journals,
        )
        with _progress() as progress:
            saved = save(source, file.expanduser().absolute(), now(), progress.show, replacing=force)
    click.echo(f"Saved {_size(saved.size)} to {click.format_filename(file)}: {_sessions(saved.manifest.sessions)}.")
    if source.database is None:
        click.echo("The database isn't in it: PostgreSQL has its own backups, for example with pg_dump.")
    for path in saved.left_out:
        click.echo(f"Not in it, because it isn't beside the settings: {path}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@state_option
@database_option
@click.option("-y", "--yes", is_flag=True, help="Replace an existing state without asking.")
def restore(file: Path, state: str | None, database: str | None, yes: bool) -> None:
    """Restore a backup while the hub is stopped; sessions keep running.

    FILE is checked before anything is changed. The earlier state is kept in the hub's folder. Sessions whose Claude
    still runs here are reattached by the next hub. Others can be resumed. Settings and conversations that exist are
    never overwritten.

    \b
    handraise restore ~/handraise-backup.zip
    """
    from handraise.backup.archive import Archive
    from handraise.backup.restoring import has_state
    from handraise.backup.restoring import restore as restore_archive
    from handraise.hub.hub import locked, make_private, now
    from handraise.hub.replacing import finish_replacing

    folder = state_folder(state).absolute()
    with _in_words(), ExitStack() as held:
        archive = held.enter_context(Archive(file.expanduser().absolute()))
        target = _target(archive, folder, database)
        make_private(folder)
        held.enter_context(locked(folder / "hub.lock", folder))
        if target.database is not None and target.database.parent != folder:
            make_private(target.database.parent)
            held.enter_context(locked(target.database.with_name(f"{target.database.name}.lock"), target.database))
        finish_replacing(folder)
        manifest = archive.manifest
        click.echo(f"Backup of {manifest.machine} from {manifest.made_at}: {_sessions(manifest.sessions)}.")
        if has_state(folder) and not yes:
            if not sys.stdin.isatty():
                raise click.UsageError(f"{folder} has a state already. Use --yes to replace it; it is kept aside.")
            click.confirm(f"Replace the state in {folder}? It is kept aside.", abort=True)
        with _progress() as progress:
            restored = restore_archive(archive, target, now(), progress.show)
    _report(restored, folder, options_of(HubChoice(str(folder)), state))


def _report(restored: "RestoredState", folder: Path, options: str) -> None:
    click.echo(f"Restored to {folder}. Start the hub with: handraise serve{options}")
    if restored.reattached:
        click.echo(f"{_sessions(restored.reattached)} still running: the hub reattaches {_them(restored.reattached)}.")
    if restored.lost:
        click.echo(f"{_sessions(restored.lost)} no longer running. Resume with: handraise run --resume ID{options}")
    if restored.conversations:
        count = restored.conversations
        click.echo(f"Restored {count} {'conversation' if count == 1 else 'conversations'} of Claude Code.")
    for path in restored.settings:
        click.echo(f"Restored {path}")
    if restored.other_settings is not None:
        click.echo(f"Your settings stay as they are. Those of the backup are in {restored.other_settings}")
    if restored.aside is not None:
        click.echo(f"The earlier state is in {restored.aside}. Remove it when you don't need it.")


def _target(archive: "Archive", folder: Path, database: str | None) -> "RestoreTarget":
    """By the settings that will apply: those that are here, or those of the backup."""
    from handraise.backup.restoring import RestoreTarget, settings_in
    from handraise.config.reading import Layers, read_layers

    file = _settings_file(os.environ)
    text = settings_in(archive)
    if text is None or os.path.lexists(file):
        settings = _settings(os.environ)
    else:
        settings = read_layers(Layers(file=text, file_path=f"{archive.path}: {file.name}", environ=os.environ))
    return RestoreTarget(
        folder, _database(database or settings.store.database, folder), file, _claude_folder(os.environ)
    )


def _settings(environ: Mapping[str, str]) -> "Settings":
    from handraise import texts
    from handraise.config.files import load_layers
    from handraise.config.reading import read_layers

    settings = read_layers(load_layers(environ))
    texts.use(settings.language)
    return settings


def _settings_file(environ: Mapping[str, str]) -> Path:
    from handraise.config.files import settings_file

    return settings_file(environ)


def _database(named: str | None, folder: Path) -> Path | None:
    """The file; None if the database is shared."""
    from handraise.config.database import database_file, shared_database
    from handraise.hub.hub import DATABASE

    try:
        if shared_database(named) is not None:
            return None
        file = database_file(named)
    except ValueError as error:
        raise click.UsageError(f"--database: {error}") from error
    return Path(file).expanduser().absolute() if file else folder.absolute() / DATABASE


def _named(settings: "Settings", environ: Mapping[str, str]) -> list[Path]:
    """The files that the settings name."""
    from handraise.config.files import password_file, token_file

    web = [Path(each).expanduser() for each in (settings.web.tls_cert, settings.web.tls_key) if each]
    found = [token_file(settings.telegram, environ), password_file(settings.store, environ), *web]
    return [each.absolute() for each in found if each is not None]


def _claude_folder(environ: Mapping[str, str]) -> Path | None:
    from handraise.terminals.claude_folder import folder_of

    return folder_of(environ)


@contextmanager
def _in_words() -> Iterator[None]:
    from handraise.backup.archive import BackupUnfit
    from handraise.config.tables import SettingsRefused
    from handraise.hub.hub import HubRunning, StateExposed, StateUnreachable
    from handraise.hub.replacing import ReplacementUnreadable
    from handraise.store.interface import StoreError

    try:
        yield
    except HubRunning as error:
        raise click.ClickException(f"{error} Stop it first: its sessions keep running.") from error
    except (
        BackupUnfit,
        SettingsRefused,
        StoreError,
        StateExposed,
        StateUnreachable,
        ReplacementUnreadable,
    ) as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _progress() -> "Iterator[_ByteProgress]":
    progress = _ByteProgress()
    try:
        yield progress
    finally:
        progress.end()


class _ByteProgress:
    """One line on a terminal, and nothing elsewhere."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._line = ""

    def show(self, what: str, done: int, total: int) -> None:
        line = f"{what} ({100 * done // total} %)" if total else what
        if self._on and line != self._line:
            self._line = line
            click.echo(f"\r\x1b[K{line[:78]}", nl=False, err=True)

    def end(self) -> None:
        if self._line:
            click.echo("\r\x1b[K", nl=False, err=True)


def _sessions(count: int) -> str:
    return f"{count} {'session' if count == 1 else 'sessions'}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _size(count: int) -> str:
    return f"{count / 1024**2:,.1f} MiB" if count >= 1024**2 else f"{count / 1024:,.1f} KiB"
