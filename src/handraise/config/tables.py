"""Values by their paths, from a file or the environment; every key and type is checked. Pure."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from handraise.config.keys import PLACES, RULE, RULE_KEYS, SECTIONS, VARIABLES, Path, SettingKey, nearest

Values = dict[Path, Any]

_PREFIX = "HANDRAISE_"


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
    """As in a file, but a string needs no quotes, and a list no brackets."""
    if not key.is_list:
        return _read_value(key, text)
    if text.lstrip().startswith("["):
        return _as_toml(text)
    return [_read_value(key, each.strip()) for each in text.split(",") if each.strip()]


def _read_value(key: SettingKey, text: str) -> object:
    return text if key.is_text else _as_toml(text)


def _as_toml(text: str) -> object:
    try:
        read = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return read["value"] if len(read) == 1 else text
