"""Builds a hub from the settings: read when it starts; a directory's own file when a session starts there."""

import importlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from handraise import texts
from handraise.api.guard import TrustedProxy
from handraise.api.origins import spelled
from handraise.claude.command import environment
from handraise.claude.locate import ClaudeMissing, locate
from handraise.client.logins import logins_file
from handraise.config.database import SharedDatabase, database_file, shared_database
from handraise.config.files import (
    check_certificates,
    database_password,
    load_layers,
    password_file,
    settings_file,
    token_file,
)
from handraise.config.reading import project_rules, read_layers
from handraise.config.settings import Settings, seconds_or_none
from handraise.config.tables import SettingsRefused
from handraise.hub.retention import MIB, RetentionLimits
from handraise.model.projects import OwnFile, OwnFileUnfit
from handraise.reach.situation import ReachConfig
from handraise.serving.serve import ServeConfig
from handraise.session.machine import SessionLimits
from handraise.store.interface import Store
from handraise.surfaces.push.notifier import PushConfig
from handraise.surfaces.webhooks.webhooks import WebhookConfig

if TYPE_CHECKING:
    from handraise.store.postgres.connecting import DatabaseAddress
    from handraise.surfaces.telegram.people import TelegramConfig

_DATABASE_SECRETS = ("PGPASSWORD", "PGPASSFILE")


def service(
    environ: Mapping[str, str], state: Path, host: str | None, port: int | None, database: str | None = None
) -> ServeConfig:
    """The hub that the settings and the command line describe; raises SettingsRefused or ClaudeMissing.

    From here on this process uses the language of the settings.
    """
    settings = read_layers(load_layers(environ))
    texts.use(settings.language)
    web, limits = settings.web, settings.limits
    telegram, telegram_trouble = _telegram(settings, environ)
    shared = shared_named(database, settings, environ)
    if limits.parallel == 0 and shared is None:
        raise SettingsRefused(
            "[limits] parallel = 0 makes this hub a gateway: it shows the sessions of other machines and runs none."
            " Set [store] database to a postgresql:// URL, or parallel to 1 or more."
        )
    return ServeConfig(
        state=state,
        program=_program(settings),
        environment=_environment(environ, settings, shared),
        host=host or web.host,
        port=web.port if port is None else port,
        tls_cert=Path(web.tls_cert).expanduser() if web.tls_cert else None,
        tls_key=Path(web.tls_key).expanduser() if web.tls_key else None,
        behind_proxy=web.behind_proxy,
        allowed_hosts=frozenset(each.lower() for each in web.allowed_hosts),
        link_host=web.allowed_hosts[0].lower() if web.allowed_hosts else None,
        proxy=_proxy(settings),
        rules=settings.rules,
        options=settings.options,
        limits=SessionLimits(
            move=limits.move_seconds,
            idle=seconds_or_none(limits.idle_seconds),
            unsafe_plan=settings.claude.allow_unsafe_plan_mode,
        ),
        limit=limits.parallel,
        own_file=lambda directory: _own_file(environ, directory),
        database=_file(database or settings.store.database),
        store=None if shared is None else _shared_store(shared),
        machine_name=settings.machine.name,
        hidden=(*_hidden(environ, settings), *_hidden_passwords(environ, settings, shared)),
        writable=settings.sandbox.writable,
        retention=RetentionLimits(
            seconds_or_none(settings.store.keep_days),
            settings.store.max_database_mib * MIB,
            settings.store.max_journals_mib * MIB,
            seconds_or_none(settings.store.keep_audit_days),
        ),
        push=PushConfig(settings.push.enabled, settings.push.contact, settings.push.private_addresses),
        webhooks=WebhookConfig(settings.webhooks.private_addresses),
        notifications=ReachConfig(private_addresses=settings.notifications.private_addresses),
        telegram=telegram,
        telegram_trouble=telegram_trouble,
    )


def shared_named(named: str | None, settings: Settings, environ: Mapping[str, str]) -> "DatabaseAddress | None":
    """The database that several machines share: on the command line, or in the settings. Raises SettingsRefused."""
    try:
        on_command_line = shared_database(named)
        shared = on_command_line or (None if named else shared_database(settings.store.database))
    except ValueError as error:
        raise SettingsRefused(f"{'--database: ' if named else ''}{error}") from error
    if on_command_line is not None and on_command_line.has_password:
        raise SettingsRefused(
            "--database: other users can see a password on the command line. Remove it from the URL, and put it into a"
            " file: [store] password_file or PGPASSFILE."
        )
    if shared is None:
        return None
    return address_of(shared, None if shared.has_password else database_password(settings.store, environ))


def address_of(shared: SharedDatabase, password: str | None) -> "DatabaseAddress":
    """How to reach it. Only who has a shared database imports what belongs to it."""
    try:
        connecting = importlib.import_module("handraise.store.postgres.connecting")
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise SettingsRefused("PostgreSQL needs: pip install 'handraise[postgres]'") from error
    check_certificates(shared, Path.home())
    address: DatabaseAddress = connecting.read_address(shared.url, password)
    return address


def _shared_store(address: "DatabaseAddress") -> Callable[[str], Store]:
    module = importlib.import_module("handraise.store.postgres.store")

    def open_for(machine: str) -> Store:
        store: Store = module.PostgresStore(address.url, machine, password=address.password)
        return store

    return open_for


def _program(settings: Settings) -> Path:
    """A gateway runs no session, so it needs no Claude Code."""
    try:
        return locate(settings.claude.path)
    except ClaudeMissing:
        if settings.limits.parallel:
            raise
        return Path(os.devnull)


def _environment(environ: Mapping[str, str], settings: Settings, shared: "DatabaseAddress | None") -> dict[str, str]:
    """Claude's environment variables. The hub's way into the shared database isn't among them."""
    passed = environment(environ, api_billing=settings.claude.use_api_billing)
    return {name: value for name, value in passed.items() if shared is None or name not in _DATABASE_SECRETS}


def _hidden_passwords(
    environ: Mapping[str, str], settings: Settings, shared: "DatabaseAddress | None"
) -> tuple[Path, ...]:
    """The files that a password for the shared database may come from."""
    if shared is None:
        return ()
    usual = environ.get("PGPASSFILE") or Path.home() / ".pgpass"
    found = (password_file(settings.store, environ), Path(usual).expanduser().absolute())
    return tuple(each for each in found if each is not None and each.exists())


def _telegram(settings: Settings, environ: Mapping[str, str]) -> "tuple[TelegramConfig | None, str]":
    """The bot, or why its token can't be used: the hub runs on without it. Only a hub with a bot imports it."""
    if settings.telegram.token is None and settings.telegram.token_file is None:
        return None, ""
    module = importlib.import_module("handraise.cli.telegram_config")
    try:
        return module.telegram_config(settings.telegram, environ), ""
    except SettingsRefused as error:
        return None, str(error)


def _hidden(environ: Mapping[str, str], settings: Settings) -> tuple[Path, ...]:
    """The settings, saved sign-ins, the bot's token and the certificate's key: no Claude may read or replace them."""
    file = settings_file(environ)
    # Folders, so that a missing file can't be created from inside a sandbox.
    folders = [Path(logins_file(environ)).parent, *([] if environ.get("HANDRAISE_CONFIG") else [file.parent])]
    for folder in folders:
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = token_file(settings.telegram, environ)
    key = Path(settings.web.tls_key).expanduser() if settings.web.tls_key else None
    files = [file, *(each for each in (token, key) if each is not None)]
    return tuple(dict.fromkeys((*folders, *(each for each in files if each.parent not in folders))))


def _file(database: str | None) -> Path | None:
    try:
        file = database_file(database)
        return Path(file).expanduser() if file else None
    except ValueError as error:
        raise SettingsRefused(f"--database: {error}") from error


def _proxy(settings: Settings) -> TrustedProxy | None:
    web = settings.web
    addresses = frozenset(spelled(each) for each in web.trusted_addresses)
    return TrustedProxy(web.trusted_header, addresses) if addresses else None


def _own_file(environ: Mapping[str, str], directory: str) -> OwnFile:
    try:
        layers = load_layers(environ, Path(directory))
        return OwnFile(read_layers(layers).options, project_rules(layers))
    except SettingsRefused as error:
        raise OwnFileUnfit(str(error)) from error
