"""The keys of the settings, and values by their paths from a file or the environment, each checked. Pure."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, inspect

from handraise.config.settings import ProjectSettings, Settings, WrittenRule

Path = tuple[str, ...]

PLACES = {
    "HANDRAISE_STATE": "the hub's folder",
    "HANDRAISE_CONFIG": "the settings file",
    "HANDRAISE_HUB": "the hub that commands use, on another machine",
    "HANDRAISE_TOKEN": "the token for that hub",
    "HANDRAISE_TRACEBACK": "set to 1, commands print tracebacks of errors",
}
"""Variables for commands, and where things are; they aren't settings themselves."""
RULE = "rule"
_OLDER_WORDS = ("for ever",)
"""Values that still work, but are no longer recommended."""
_SECRET: frozenset[Path] = frozenset({("telegram", "token")})
_PREFIX = "HANDRAISE_"


class SettingKey(NamedTuple):
    """One value that can be set."""

    path: Path
    type: Any
    default: object

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        return "_".join(("HANDRAISE", *self.path)).upper()

    @property
    def is_secret(self) -> bool:
        return self.path in _SECRET

    @property
    def expected(self) -> str:
        """What a value must be, to follow "must be" in a sentence."""
        return _words(inspect.type_info(self.type))

    @property
    def is_list(self) -> bool:
        return isinstance(_bare(inspect.type_info(self.type)), inspect.VarTupleType)

    @property
    def is_table(self) -> bool:
        return isinstance(_bare(inspect.type_info(self.type)), inspect.DictType)

    @property
    def is_text(self) -> bool:
        """Whether a value, or each item of a list, can be any text."""
        kind = _bare(inspect.type_info(self.type))
        return isinstance(_bare(kind.item_type) if isinstance(kind, inspect.VarTupleType) else kind, inspect.StrType)


def keys_of(kind: type[Struct], above: Path = ()) -> Iterator[SettingKey]:
    """The keys of a section and its subsections; rules are separate."""
    for each in msgspec.structs.fields(kind):
        path = (*above, each.encode_name)
        if isinstance(each.type, type) and issubclass(each.type, Struct):
            yield from keys_of(each.type, path)
        elif each.encode_name != RULE:
            default = each.default if each.default_factory is msgspec.NODEFAULT else each.default_factory()
            yield SettingKey(path, each.type, default)


KEYS = {key.path: key for key in keys_of(Settings)}
PROJECT_KEYS = {key.path: key for key in keys_of(ProjectSettings)}
RULE_KEYS = {key.path: key for key in keys_of(WrittenRule)}
VARIABLES = {key.variable: key for key in KEYS.values()}
SECTIONS: frozenset[Path] = frozenset(path[:-1] for path in (*KEYS, *PROJECT_KEYS) if path[1:])

COUNTERPARTS: dict[Path, Path] = {
    ("mode",): ("claude", "permission_mode"),
    ("model",): ("claude", "model"),
    ("allowed_tools",): ("claude", "allowed_tools"),
    ("append_system_prompt",): ("claude", "append_system_prompt"),
    ("sandbox",): ("sandbox", "preset"),
    ("ask_user_enabled",): ("ask", "ask_user_enabled"),
    ("ask_user_timeout",): ("ask", "ask_user_timeout"),
    **{("patience", kind): ("ask", "patience", kind) for kind in ("question", "permission", "plan", "form")},
}
"""Which setting each key of a project's file overrides."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most similar."""
    names = sorted(known)
    last = name.rpartition(".")[2]
    same = [each for each in names if each.rpartition(".")[2] == last]
    return (same or get_close_matches(name, names, 1, cutoff=0.0))[0]


def _bare(kind: inspect.Type) -> inspect.Type:
    """The type without its description, and without the None for "not set"."""
    match kind:
        case inspect.Metadata(type=inner):
            return _bare(inner)
        case inspect.UnionType(types=(inner, inspect.NoneType())):
            return _bare(inner)
        case _:
            return kind


def _words(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata(type=inner, extra_json_schema={"description": str() as description}):
            return f"{_words(inner)} ({description})"
        case inspect.UnionType(types=types):
            return " or ".join(_words(each) for each in types if not isinstance(each, inspect.NoneType))
        case inspect.LiteralType(values=values):
            words = [f'"{each}"' for each in values if each not in _OLDER_WORDS]
            return words[0] if len(words) == 1 else "one of " + ", ".join(words)
        case inspect.VarTupleType(item_type=inspect.IntType()):
            return "a list of whole numbers"
        case inspect.VarTupleType(item_type=inspect.UnionType()):
            return "a list"
        case inspect.VarTupleType():
            return "a list of strings"
        case inspect.DictType():
            return "a table"
        case inspect.IntType(ge=int() as least, le=int() as most):
            return f"a whole number from {least} to {most}"
        case inspect.FloatType():
            return "a number above 0"
        case inspect.BoolType():
            return "true or false"
        case inspect.DateTimeType():
            return "a date and time with a time zone, for example 2030-01-31T18:00:00Z"
        case inspect.StrType(min_length=1):
            return "a string that is not empty"
        case _:
            return "a string"


Values = dict[Path, Any]


class SettingsRefused(Exception):
    """The settings are invalid, and none of them is used. The text says where, and what is expected."""


def read_file(text: str, where: str, keys: Mapping[Path, SettingKey]) -> Values:
    """The values of a file; its rules, if any, are one value."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsRefused(f"{where} isn't valid TOML: {error}.") from error
    except RecursionError as error:
        raise SettingsRefused(f"{where} is nested too deeply.") from error
    values = dict(_leaves(table))
    for path, value in values.items():
        if path == (RULE,):
            _check_rules(value, where)
        else:
            _check(_known(path, keys, where), value, where)
    return values


def read_variables(environ: Mapping[str, str]) -> Values:
    """The values of the environment variables; an empty one is ignored."""
    values: Values = {}
    for name, text in environ.items():
        if not name.startswith(_PREFIX) or name in PLACES:
            continue
        if name not in VARIABLES:
            similar = nearest(name, (*VARIABLES, *PLACES))
            raise SettingsRefused(f"Unknown environment variable {name}. Did you mean {similar}?")
        if text:
            key = VARIABLES[name]
            values[key.path] = _read_variable(key, text)
            _check(key, values[key.path], name)
    return values


def as_table(values: Values) -> dict[str, Any]:
    """The values in their sections, as in a file."""
    table: dict[str, Any] = {}
    for (*sections, name), value in values.items():
        inner = table
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[name] = value
    return table


def _leaves(table: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, object]]:
    for name, value in table.items():
        path = (*above, name)
        if path in SECTIONS and isinstance(value, dict):
            yield from _leaves(value, path)
        else:
            yield path, value


def _check_rules(rules: object, where: str) -> None:
    if not isinstance(rules, list) or not all(isinstance(each, dict) for each in rules):
        raise SettingsRefused(f"{where}: start each rule with [[rule]], in double brackets.")
    for number, rule in enumerate(rules, 1):
        place = f"{where}, [[rule]] {number}"
        for name, value in rule.items():
            _check(_known((name,), RULE_KEYS, place), value, place)
        if "decision" not in rule:
            raise SettingsRefused(f"{place}: decision is missing. It must be {RULE_KEYS['decision',].expected}.")


def _known(path: Path, keys: Mapping[Path, SettingKey], where: str) -> SettingKey:
    if path in keys:
        return keys[path]
    name = ".".join(path)
    sections = {".".join(each[:-1]) for each in keys if each[1:]}
    if name in sections:
        raise SettingsRefused(f"{where}: {name} is a section. Write [{name}].")
    similar = nearest(name, (*sections, *(key.name for key in keys.values())))
    raise SettingsRefused(f"{where}: unknown key {name}. Did you mean {similar}?")


def _check(key: SettingKey, value: object, where: str) -> None:
    try:
        msgspec.convert(value, key.type)
    except msgspec.ValidationError as error:
        raise SettingsRefused(f"{where}: {key.name} must be {key.expected}.") from error


def _read_variable(key: SettingKey, text: str) -> object:
    """As in a file, but a string needs no quotes, a list no brackets and a table no braces."""
    if key.is_table and not text.lstrip().startswith("{"):
        return _read_pairs(text)
    if not key.is_list:
        return _read_value(key, text)
    if text.lstrip().startswith("["):
        return _as_toml(text)
    return [_read_value(key, each.strip()) for each in text.split(",") if each.strip()]


def _read_pairs(text: str) -> object:
    """`a=1, b=2`; or the text itself, if it is something else."""
    pairs = [each.partition("=") for each in text.split(",") if each.strip()]
    if not all(sign for _, sign, _ in pairs):
        return text
    return {name.strip(): value.strip() for name, _, value in pairs}


def _read_value(key: SettingKey, text: str) -> object:
    return text if key.is_text else _as_toml(text)


def _as_toml(text: str) -> object:
    try:
        read = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return read["value"] if len(read) == 1 else text
