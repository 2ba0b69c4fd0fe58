"""Examines this machine, settings first, and reports every finding as text or JSON."""

import asyncio
import importlib
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from handraise.client.state import state_folder
from handraise.config.database import SharedDatabase, database_file, shared_database
from handraise.config.files import bot_token, check_certificates, database_password, load_layers, settings_file
from handraise.config.reading import Effective, Layers, effective, over, read_layers
from handraise.config.settings import Settings
from handraise.config.tables import SettingsRefused
from handraise.doctor import checks
from handraise.doctor.channels import check_channels
from handraise.doctor.checks import Finding, Verdict
from handraise.doctor.telegram import check_telegram
from handraise.doctor.webhooks import check_webhooks
from handraise.hub.hub import DATABASE
from handraise.model.projects import Project
from handraise.texts import t, use

T = TypeVar("T")

DEADLINE = 25.0
"""How long one check may take, in seconds."""
_EXTRA = "pip install 'handraise[postgres]'"


class Report(Struct, frozen=True):
    """All findings, and every setting with its source."""

    findings: tuple[Finding, ...]
    settings: tuple[Effective, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        found = {each.verdict for each in self.findings}
        return "fail" if "fail" in found else "warn" if "warn" in found else "ok"


async def examine(
    environ: Mapping[str, str],
    home: Path,
    *,
    state: Path | None = None,
    project: Path | None = None,
    known: Project | None = None,
    deadline: float = DEADLINE,
) -> Report:
    """All findings. Where the settings are invalid, that is a finding, and the other checks use the defaults.

    `project` is a directory; `known` is the hub's project there. Each check may take as long as `deadline`.
    """
    finding, settings, values = _read(environ, project if known is None else Path(known.path))
    if known is not None:
        values = over(values, known)
    folder = state or _folder(environ)
    one, several = partial(_one, deadline=deadline), partial(_several, deadline=deadline)
    process = await within(lambda: checks.running_hub(folder), None, deadline)
    elsewhere = _database_elsewhere(settings)
    has_token = settings.telegram.token is not None
    shared = shared_database(settings.store.database)
    has_password = shared is not None and shared.has_password and not environ.get("HANDRAISE_STORE_DATABASE")
    trouble = await checks.trouble_of_hub(folder) if process is not None else ""
    findings = [
        finding,
        await one(
            "settings",
            lambda: checks.check_secrets(settings_file(environ), has_token=has_token, has_password=has_password),
        ),
        *([checks.gateway()] if settings.limits.parallel == 0 else await _claude(several, settings, environ, home)),
        await one("hub", lambda: checks.check_hub(folder, process, trouble)),
        await one(
            "hooks",
            lambda: checks.check_hooks(
                folder, process, _claude_folder(environ, home), Path(known.path) if known else project
            ),
        ),
        await one("port", lambda: checks.check_port(settings.web, hub_runs=process is not None)),
        await one("exposure", lambda: checks.check_exposure(settings.web)),
        await one("state", lambda: checks.check_state(folder)),
        await one("disk", lambda: checks.check_disk(folder, checks.free_bytes(folder))),
        await one("store", lambda: checks.check_database_folder(elsewhere) if elsewhere else None),
        *(
            [await one("database", lambda: checks.check_database(elsewhere or folder / DATABASE))]
            if shared is None
            else await several("database", _shared(shared, settings, environ, home))
        ),
        await one("pipes", lambda: checks.check_pipes(settings.limits.parallel)),
        await one("inotify", checks.check_inotify),
        *await several("telegram", _telegram(settings, environ)),
        *(await several("webhooks", check_webhooks(folder)) if process is not None else []),
        *(await several("channel", check_channels(folder)) if process is not None else []),
    ]
    return Report(tuple(each for each in findings if each is not None), values)


async def _claude(
    several: Callable[[str, Awaitable[list[Finding]]], Awaitable[list[Finding]]],
    settings: Settings,
    environ: Mapping[str, str],
    home: Path,
) -> list[Finding]:
    return [
        *await several("claude", _listed(checks.check_claude(settings.claude))),
        *await several("login", _listed(checks.check_sign_in(settings.claude, environ, home))),
        *await several("sandbox", _listed(checks.check_sandbox(settings.sandbox))),
    ]


async def _listed(check: Awaitable[Finding]) -> list[Finding]:
    return [await check]


async def _several(name: str, checks: Awaitable[list[Finding]], *, deadline: float) -> list[Finding]:
    """Their findings, or that they took too long."""
    try:
        async with asyncio.timeout(deadline):
            return await checks
    except TimeoutError:
        return [_slow(name, deadline)]


async def _one(name: str, check: Callable[[], Finding | None], *, deadline: float) -> Finding | None:
    """Its finding, or that it took too long: a file on a server that is away blocks for minutes."""
    return await within(check, _slow(name, deadline), deadline)


async def within(work: Callable[[], T], otherwise: T, deadline: float = DEADLINE) -> T:
    """What it returns in time. Not a thread of the loop, which would wait for it at the end."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(act: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits for it any more
            loop.call_soon_threadsafe(lambda: None if done.done() else act())

    def perform() -> None:
        try:
            found = work()
        except Exception as error:
            raised = error
            settle(lambda: done.set_exception(raised))
        else:
            settle(lambda: done.set_result(found))

    threading.Thread(target=perform, daemon=True).start()
    try:
        async with asyncio.timeout(deadline):
            return await done
    except TimeoutError:
        return otherwise


def _slow(name: str, deadline: float) -> Finding:
    return Finding(name, "fail", t("doctor.slow", seconds=f"{deadline:g}"))


async def _shared(shared: SharedDatabase, settings: Settings, environ: Mapping[str, str], home: Path) -> list[Finding]:
    """Only who has a shared database imports what belongs to it."""
    try:
        database = importlib.import_module("handraise.doctor.database")
        check_certificates(shared, home)
        password = database_password(settings.store, environ)
    except SettingsRefused as error:
        return [Finding("database", "fail", str(error))]
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        return [Finding("database", "fail", t("doctor.database.extra"), t("doctor.run", command=_EXTRA))]
    findings: list[Finding] = await database.check_shared(shared, password)
    return findings


async def _telegram(settings: Settings, environ: Mapping[str, str]) -> list[Finding]:
    try:
        token = bot_token(settings.telegram, environ)
    except SettingsRefused as error:
        return [Finding("telegram", "fail", str(error))]
    return [] if token is None else await asyncio.to_thread(check_telegram, settings.telegram, token)


def _claude_folder(environ: Mapping[str, str], home: Path) -> Path:
    return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")


def _folder(environ: Mapping[str, str]) -> Path:
    return Path(state_folder(environ=environ)).absolute()


def _database_elsewhere(settings: Settings) -> Path | None:
    file = database_file(settings.store.database)
    return Path(file).expanduser() if file else None


def _read(environ: Mapping[str, str], project: Path | None) -> tuple[Finding, Settings, tuple[Effective, ...]]:
    try:
        layers = load_layers(environ, project)
        settings = read_layers(layers)
        use(settings.language)
    except SettingsRefused as error:
        finding = Finding("settings", "fail", str(error), t("doctor.settings.fix"))
        return finding, Settings(), effective(Layers())
    source = t("doctor.settings.file", file=layers.file_path) if layers.file else t("doctor.settings.defaults")
    return Finding("settings", "ok", source), settings, effective(layers)


def as_json(report: Report) -> dict[str, Any]:
    """The whole report, for programs."""
    built: dict[str, Any] = msgspec.to_builtins(report)
    return {"verdict": report.verdict, **built}


def as_text(report: Report) -> str:
    """The whole report, for people."""
    return "\n".join([*_finding_lines(report.findings), "", *_setting_lines(report.settings)]).rstrip()


def _finding_lines(findings: tuple[Finding, ...]) -> list[str]:
    width = max((len(each.name) for each in findings), default=0)
    lines = []
    for each in findings:
        lines.append(f"{each.verdict:<4}  {each.name:<{width}}  {each.sentence}")
        if each.advice:
            lines.append(f"{'':<4}  {'':<{width}}  → {each.advice}")
    return lines


def _setting_lines(settings: tuple[Effective, ...]) -> list[str]:
    rows = [(f"{each.key} = {_value(each.value)}", _source(each)) for each in settings]
    width = max((len(left) for left, _ in rows), default=0)
    return [f"{left:<{width}}  {right}" for left, right in rows]


def _value(value: object) -> str:
    return t("doctor.settings.not_set") if value is None else msgspec.json.encode(value).decode()


def _source(each: Effective) -> str:
    return f"{each.source.kind} {each.source.name}".rstrip()
