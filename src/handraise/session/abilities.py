"""Reads what Claude offers from its answer to `initialize`. Pure; odd values are left out, and long ones are cut."""

from collections.abc import Iterator
from typing import Any

import msgspec

from handraise.model.abilities import Abilities, ModelChoice, SlashCommand
from handraise.store.changes import Change, RemoveRecord, SaveRecord

KIND = "abilities"
"""The records that have them, by machine and directory."""
_MOST_COMMANDS = 300
_MOST_MODELS = 40
_NAME = 100
_TEXT = 300


def abilities_in(answer: Any) -> Abilities | None:  # noqa: ANN401 (foreign JSON)
    """None if it names neither: an older Claude, or an answer to something else."""
    if not isinstance(answer, dict):
        return None
    commands = tuple(_commands(answer.get("commands")))
    models = tuple(_models(answer.get("models")))
    return Abilities(commands, models) if commands or models else None


def saved(abilities: Abilities, machine: str, directory: str) -> list[Change]:
    """Replaces what was known of this directory."""
    key = key_of(machine, directory)
    return [RemoveRecord(KIND, key), SaveRecord(KIND, key, msgspec.json.encode(abilities), None)]


def key_of(machine: str, directory: str) -> str:
    """The key of a directory's record."""
    return f"{machine}:{directory}"


def load(stored: bytes) -> Abilities:
    """A record's value; nothing if another version wrote it."""
    try:
        return msgspec.json.decode(stored, type=Abilities)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Abilities()


def _commands(listed: object) -> Iterator[SlashCommand]:
    for each in _dicts(listed)[:_MOST_COMMANDS]:
        name = _name(each.get("name"))
        if name:
            yield SlashCommand(name, _line(each.get("description")), _line(each.get("argumentHint")))


def _models(listed: object) -> Iterator[ModelChoice]:
    for each in _dicts(listed)[:_MOST_MODELS]:
        value = _name(each.get("value"))
        if value:
            name, description = _line(each.get("displayName"))[:_NAME], _line(each.get("description"))
            yield ModelChoice(value, name, description, _name(each.get("resolvedModel")))


def _dicts(listed: object) -> list[dict[str, Any]]:
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _name(value: object) -> str:
    """What is sent back to Claude: whole, or not at all."""
    is_name = isinstance(value, str) and 0 < len(value) <= _NAME and value.isprintable() and " " not in value
    return str(value) if is_name else ""


def _line(value: object) -> str:
    """One line. A lone surrogate could not be stored."""
    if not isinstance(value, str):
        return ""
    line = " ".join(value[: 4 * _TEXT].split()).encode(errors="replace").decode()
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1].rstrip()}…"
