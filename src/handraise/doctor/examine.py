"""Examines this machine: the settings first, then everything that they name."""

from collections.abc import Mapping
from pathlib import Path

from handraise.client.state import state_folder
from handraise.config.database import database_file
from handraise.config.files import load_layers, settings_file
from handraise.config.reading import Effective, Layers, effective, over, read_layers
from handraise.config.settings import Settings
from handraise.config.tables import SettingsRefused
from handraise.doctor import checks
from handraise.doctor.findings import Finding, Report
from handraise.hub.hub import DATABASE
from handraise.model.projects import Project


async def examine(
    environ: Mapping[str, str],
    home: Path,
    *,
    state: Path | None = None,
    project: Path | None = None,
    known: Project | None = None,
) -> Report:
    """Everything that was found. Settings that are refused are told, and the defaults looked at in their place.

    `project` is a directory; `known` is the project that a hub knows there.
    """
    told, settings, values = _read(environ, project if known is None else Path(known.path))
    if known is not None:
        values = over(values, known)
    folder = state or _folder(environ)
    process = checks.running_hub(folder)
    elsewhere = _database_elsewhere(settings)
    has_token = settings.telegram.token is not None
    findings = [
        told,
        checks.check_secrets(settings_file(environ), has_token=has_token),
        await checks.check_claude(settings.claude),
        checks.check_login(settings.claude, environ, home),
        await checks.check_sandbox(settings.sandbox),
        checks.check_hub(folder, process),
        checks.check_port(settings.web, hub_runs=process is not None),
        checks.check_exposure(settings.web),
        checks.check_state(folder),
        checks.check_disk(folder, checks.free_bytes(folder)),
        checks.check_database_folder(elsewhere) if elsewhere else None,
        checks.check_database(elsewhere or folder / DATABASE),
        checks.check_pipes(settings.limits.parallel),
        checks.check_inotify(),
    ]
    return Report(tuple(each for each in findings if each is not None), values)


def _folder(environ: Mapping[str, str]) -> Path:
    return Path(state_folder(environ=environ)).absolute()


def _database_elsewhere(settings: Settings) -> Path | None:
    named = settings.store.database
    return Path(database_file(named)).expanduser() if named else None


def _read(environ: Mapping[str, str], project: Path | None) -> tuple[Finding, Settings, tuple[Effective, ...]]:
    try:
        layers = load_layers(environ, project)
        settings = read_layers(layers)
    except SettingsRefused as error:
        finding = Finding("settings", "fail", str(error), "Mend them; the rest was looked at with the defaults.")
        return finding, Settings(), effective(Layers())
    there = f"from {layers.file_path}" if layers.file else f"all by default; {layers.file_path} is not there, or empty"
    return Finding("settings", "ok", f"They can be read: {there}."), settings, effective(layers)
