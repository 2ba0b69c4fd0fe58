"""Puts the settings together from texts and variables, and tells where each value comes from. Opens no file."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from handraise.config.keys import COUNTERPARTS, KEYS, PROJECT_KEYS, RULE, Path, SettingKey
from handraise.config.narrowing import complaints
from handraise.config.settings import ProjectSettings, Settings
from handraise.config.tables import SettingsRefused, Values, as_table, read_file, read_variables
from handraise.model.projects import Project
from handraise.model.rules import Rule

T = TypeVar("T", bound=Struct)

_MODE = ("claude", "permission_mode")
_SKIP = ("claude", "dangerously_skip_permissions")


class Layers(Struct, frozen=True):
    """What the settings are made of, each over the one before it; the defaults lie under them all."""

    file: str = ""
    file_path: str = "handraise.toml"
    project: str = ""
    project_path: str = ".handraise.toml"
    environ: Mapping[str, str] = {}


class ValueSource(Struct, frozen=True):
    """Where a value comes from."""

    kind: Literal["default", "file", "project file", "environment", "project"]
    name: str = ""
    """The file's path, the variable, or the project that somebody set it for."""


class Effective(Struct, frozen=True):
    """A key, the value that holds, and where it comes from. A secret shows only whether it is set."""

    key: str
    value: object
    source: ValueSource


def read_settings(text: str, environ: Mapping[str, str]) -> Settings:
    """The settings of a file with the variables over it; raises SettingsRefused."""
    return read_layers(Layers(text, environ=environ))


def read_layers(layers: Layers) -> Settings:
    """The settings as they hold in a project: its own lie over the person's, and the variables over both."""
    return _stack(layers)[0]


def project_rules(layers: Layers) -> tuple[Rule, ...]:
    """The rules of a project's own file. None of them allows anything, and none speaks of another project."""
    own = _convert(_own(layers), Settings, layers.file_path)
    written = _read_project(layers, own).written_rules
    return tuple(each.rule(f".handraise.toml#{number}") for number, each in enumerate(written, 1))


def effective(layers: Layers) -> tuple[Effective, ...]:
    """Every value that can be set, in the order of the sections."""
    settings, sources = _stack(layers)
    return tuple(
        Effective(key.name, _shown(key, settings), sources.get(path, ValueSource("default")))
        for path, key in KEYS.items()
    )


def over(values: Iterable[Effective], project: Project) -> tuple[Effective, ...]:
    """The values as they hold in a project that people have set options for."""
    options = msgspec.to_builtins(project.options)
    told = {".".join(path): _at(options, own) for own, path in COUNTERPARTS.items()}
    source = ValueSource("project", project.name)
    return tuple(each if told.get(each.key) is None else Effective(each.key, told[each.key], source) for each in values)


def _at(options: Mapping[str, Any], path: Path) -> object:
    found: Any = options
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _stack(layers: Layers) -> tuple[Settings, dict[Path, ValueSource]]:
    values = _own(layers)
    sources = dict.fromkeys(values, ValueSource("file", layers.file_path))
    settings = _convert(values, Settings, layers.file_path)
    if project := _project_values(layers, settings):
        _lay(project, over=values)
        sources |= dict.fromkeys(project, ValueSource("project file", layers.project_path))
        settings = _convert(values, Settings, layers.project_path)
    if variables := read_variables(layers.environ):
        _lay(variables, over=values)
        sources |= {path: ValueSource("environment", KEYS[path].variable) for path in variables}
        settings = _convert(values, Settings, "The variables")
    return settings, {path: source for path, source in sources.items() if path in values}


def _own(layers: Layers) -> Values:
    return read_file(layers.file, layers.file_path, KEYS)


def _project_values(layers: Layers, own: Settings) -> Values:
    _read_project(layers, own)
    values = read_file(layers.project, layers.project_path, PROJECT_KEYS)
    return {COUNTERPARTS[path]: value for path, value in values.items() if path != (RULE,)}


def _read_project(layers: Layers, own: Settings) -> ProjectSettings:
    where = layers.project_path
    project = _convert(read_file(layers.project, where, PROJECT_KEYS), ProjectSettings, where)
    for complaint in complaints(project, own):
        raise SettingsRefused(f"{where}: {complaint}")
    return project


def _lay(values: Values, *, over: Values) -> None:
    """What says the same in two ways is said by the upper layer alone."""
    if _MODE in values or _SKIP in values:
        over.pop(_MODE, None)
        over.pop(_SKIP, None)
    over.update(values)


def _convert(values: Values, kind: type[T], where: str) -> T:
    try:
        return msgspec.convert(as_table(values), kind)
    except msgspec.ValidationError as error:
        # Every value is of its type: what is left are keys that contradict each other, and rules that make no sense.
        sentence, _, place = str(error).partition(" - at ")
        rule = place.partition("rule[")[2].partition("]")[0]
        raise SettingsRefused(f"{where}{f', [[rule]] {int(rule) + 1}' if rule else ''}: {sentence}") from error


def _shown(key: SettingKey, settings: Settings) -> object:
    value: object = settings
    for name in key.path:
        value = getattr(value, name)
    if key.is_secret:
        return "set" if value else "not set"
    return value
