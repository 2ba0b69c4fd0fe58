"""The projects of a hub by their names, also while no hub is running."""

from collections.abc import Mapping
from pathlib import Path

from handraise.cli.client import HubClient, NoHub
from handraise.config.database import database_file, shared_database
from handraise.config.files import load_layers
from handraise.config.tables import KEYS, read_file, read_variables
from handraise.hub.hub import DATABASE
from handraise.store.sqlite.database import explain, open_for_reading
from handraise.store.sqlite.reader import Reader

_BUSY = 5.0
_SETTING = ("store", "database")


def known_projects(state: Path, environ: Mapping[str, str]) -> list[str]:
    """From the running hub, else from its database; raises HubError, SettingsRefused or StoreError."""
    try:
        found = HubClient(state).get("/api/projects")["projects"]
    except NoHub:
        file = _database(state, environ)
        if file is None:
            raise
        return sorted(_stored(file))
    return sorted(str(each["name"]) for each in found)


def _database(state: Path, environ: Mapping[str, str]) -> Path | None:
    """None if it is shared: then only a running hub knows."""
    layers = load_layers(environ)
    written = {**read_file(layers.file, layers.file_path, KEYS), **read_variables(environ)}
    location = written.get(_SETTING)
    if shared_database(location) is not None:
        return None
    file = database_file(location)
    return Path(file).expanduser() if file else state / DATABASE


def _stored(file: Path) -> list[str]:
    if not file.exists():
        return []
    try:
        reader = Reader(open_for_reading(file, _BUSY))
        try:
            return [each.name for each in reader.projects()]
        finally:
            reader.close()
    except Exception as error:
        raise explain(error, file, reading=True) from error
