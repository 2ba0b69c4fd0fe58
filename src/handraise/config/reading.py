"""Combines settings files and environment variables, and says where each value comes from. Opens no file.

Claude can edit a project's own file, so that file may only narrow what the person allows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from handraise.config.database import shared_database
from handraise.config.settings import ProjectSettings, Settings
from handraise.config.tables import (
    COUNTERPARTS,
    KEYS,
    PROJECT_KEYS,
    RULE,
    Path,
    SettingKey,
    SettingsRefused,
    Values,
    as_table,
    read_file,
    read_variables,
)
from handraise.model.projects import SANDBOXES, Project
from handraise.model.rules import Rule

T = TypeVar("T", bound=Struct)

_MODE = ("claude", "permission_mode")
_DATABASE = ("store", "database")
_SKIP = ("claude", "dangerously_skip_permissions")
_SAME = (frozenset({_MODE, _SKIP}), frozenset({("telegram", "token"), ("telegram", "token_file")}))
"""Keys that say the same in different ways."""
_UNATTENDED_MODES = ("acceptEdits", "auto", "bypassPermissions")
"""The modes in which Claude acts without asking, from least to most; in every other mode it always asks."""
MAX_RULES = 100
MAX_CONDITION = 200
"""The most characters in a rule's tool, command, path or server. They are matched against every call."""
MAX_MESSAGE = 2_000
_IN_REACH = "Claude can edit this file, and could"


class Layers(Struct, frozen=True):
    """The sources of the settings. Later ones override earlier ones; the defaults come first."""

    file: str = ""
    file_path: str = "handraise.toml"
    project: str = ""
    project_path: str = ".handraise.toml"
    environ: Mapping[str, str] = {}


class ValueSource(Struct, frozen=True):
    """Where a value comes from."""

    kind: Literal["default", "file", "project file", "environment", "project"]
    name: str = ""
    """The file's path, the variable, or the project it is set for."""


class Effective(Struct, frozen=True):
    """A key, its effective value and its source. A secret shows only whether it is set."""

    key: str
    value: object
    source: ValueSource


def read_settings(text: str, environ: Mapping[str, str]) -> Settings:
    """The settings of a file, overridden by variables; raises SettingsRefused."""
    return read_layers(Layers(text, environ=environ))


def read_layers(layers: Layers) -> Settings:
    """The settings in a project: its own file overrides the person's, and variables override both."""
    return _stack(layers)[0]


def project_rules(layers: Layers) -> tuple[Rule, ...]:
    """The rules of a project's own file. None of them allows anything, and none concerns another project."""
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
    """The values, overridden by the options of a project."""
    options = msgspec.to_builtins(project.options)
    overrides = {".".join(path): _at(options, own) for own, path in COUNTERPARTS.items()}
    source = ValueSource("project", project.name)
    return tuple(
        each if overrides.get(each.key) is None else Effective(each.key, overrides[each.key], source) for each in values
    )


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
        settings = _convert(values, Settings, "The environment variables")
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
    for complaint in _complaints(project, own):
        raise SettingsRefused(f"{where}: {complaint}")
    return project


def _complaints(project: ProjectSettings, own: Settings) -> Iterator[str]:
    """A sentence for everything in a project's file that goes beyond the person's own settings."""
    if _freedom(project.mode) > _freedom(own.claude.mode):
        yield (
            f"mode must not be {project.mode!r}. {_IN_REACH} do more without asking. Set the mode in your own"
            " handraise.toml or with `handraise project set`, or choose it when you start a session."
        )
    if project.sandbox is not None and SANDBOXES.index(project.sandbox) < SANDBOXES.index(own.sandbox.preset):
        yield (
            f"sandbox must not be {project.sandbox!r}, which is wider than your own {own.sandbox.preset!r}. {_IN_REACH}"
            " reach more. Set it in your own handraise.toml or with `handraise project set`."
        )
    for tool in project.allowed_tools or ():
        if tool not in own.claude.allowed_tools:
            yield (
                f"allowed_tools must not name {tool!r}, which your own settings don't allow. {_IN_REACH} allow"
                " itself everything. Add it to [claude] allowed_tools in your own handraise.toml."
            )
    if len(project.written_rules) > MAX_RULES:
        count = f"{len(project.written_rules):,}"
        yield f"{count} rules are too many. Keep at most {MAX_RULES}, or move some to your own settings."
    for number, rule in enumerate(project.written_rules, 1):
        for name in ("tool", "command", "path", "server"):
            if len(getattr(rule, name) or "") > MAX_CONDITION:
                yield f"[[rule]] {number}: {name} is longer than {MAX_CONDITION} characters. Shorten it."
        if len(rule.message) > MAX_MESSAGE:
            yield f"[[rule]] {number}: message is longer than {MAX_MESSAGE:,} characters. Shorten it."
        if rule.decision == "allow":
            yield (
                f"[[rule]] {number} must not allow anything, only deny or ask. {_IN_REACH} allow itself"
                " everything. Put the rule in your own handraise.toml."
            )
        if rule.project is not None:
            yield f"[[rule]] {number} must not name a project. It applies in this directory only."


def _freedom(mode: str | None) -> int:
    return _UNATTENDED_MODES.index(mode) + 1 if mode in _UNATTENDED_MODES else 0


def _lay(values: Values, *, over: Values) -> None:
    """Keys that say the same are overridden together."""
    for same in _SAME:
        if not same.isdisjoint(values):
            for path in same:
                over.pop(path, None)
    over.update(values)


def _convert(values: Values, kind: type[T], where: str) -> T:
    try:
        return msgspec.convert(as_table(values), kind)
    except msgspec.ValidationError as error:
        # All types are already right: only contradicting keys and invalid rules are left.
        sentence, _, place = str(error).partition(" - at ")
        rule = place.partition("rule[")[2].partition("]")[0]
        raise SettingsRefused(f"{where}{f', [[rule]] {int(rule) + 1}' if rule else ''}: {sentence}") from error


def _shown(key: SettingKey, settings: Settings) -> object:
    value: object = settings
    for name in key.path:
        value = getattr(value, name)
    if key.is_secret:
        return "set" if value else None
    if key.path == _DATABASE and isinstance(value, str):
        shared = shared_database(value)
        return shared.shown if shared else value
    return value
