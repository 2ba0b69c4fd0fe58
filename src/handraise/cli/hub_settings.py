"""Builds a hub from the settings: read when it starts; a directory's own file when a session starts there."""

import importlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from handraise import texts
from handraise.api.guard import TrustedProxy
from handraise.api.origins import spelled
from handraise.claude.command import environment
from handraise.claude.locate import locate
from handraise.config.files import load_layers, settings_file, token_file
from handraise.config.reading import project_rules, read_layers
from handraise.config.settings import Settings, database_file, seconds_or_none
from handraise.config.tables import SettingsRefused
from handraise.hub.retention import MIB, RetentionLimits
from handraise.model.projects import OwnFile, OwnFileUnfit
from handraise.serving.serve import ServeConfig
from handraise.session.machine import SessionLimits
from handraise.surfaces.push.notifier import PushConfig

if TYPE_CHECKING:
    from handraise.surfaces.telegram.people import TelegramConfig


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
    return ServeConfig(
        state=state,
        program=locate(settings.claude.path),
        environment=environment(environ, api_billing=settings.claude.use_api_billing),
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
        hidden=_hidden(environ, settings),
        writable=settings.sandbox.writable,
        retention=RetentionLimits(
            seconds_or_none(settings.store.keep_days),
            settings.store.max_database_mib * MIB,
            settings.store.max_journals_mib * MIB,
        ),
        push=PushConfig(settings.push.enabled, settings.push.contact, settings.push.private_addresses),
        telegram=telegram,
        telegram_trouble=telegram_trouble,
    )


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
    """The settings, the bot's token and the certificate's key: no Claude may read or replace them."""
    file = settings_file(environ)
    if not environ.get("HANDRAISE_CONFIG"):
        # The folder, so that a missing file can't be created from inside a sandbox.
        file = file.parent
        with suppress(OSError):
            file.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = token_file(settings.telegram, environ)
    key = Path(settings.web.tls_key).expanduser() if settings.web.tls_key else None
    return (file, *(each for each in (token, key) if each is not None))


def _file(database: str | None) -> Path | None:
    try:
        return Path(database_file(database)).expanduser() if database else None
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
