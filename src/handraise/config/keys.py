"""The keys of the settings, each with its environment variable and what its value must be, in words. Pure."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, inspect

from handraise.config.settings import ProjectSettings, Settings, WrittenRule

Path = tuple[str, ...]

PLACES = {
    "HANDRAISE_STATE": "the hub's folder",
    "HANDRAISE_CONFIG": "the settings file",
}
"""Variables that say where things are; they aren't settings themselves."""
RULE = "rule"
_OLDER_WORDS = ("for ever",)
"""Values that still work, but are no longer recommended."""
_SECRET: frozenset[Path] = frozenset({("telegram", "token")})


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
            yield SettingKey(path, each.type, each.default)


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
        case inspect.VarTupleType():
            return "a list of strings"
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
