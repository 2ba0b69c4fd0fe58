"""Says which key was probably meant where one is unknown. Pure."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import get_args

import msgspec
from msgspec import Struct

_UNKNOWN = "Object contains unknown field `"


def explain(error: msgspec.ValidationError, shape: type[Struct]) -> str:
    """The error as a sentence, with the nearest known key."""
    told = str(error)
    if not told.startswith(_UNKNOWN):
        return f"{told}."
    name, _, place = told.removeprefix(_UNKNOWN).partition("`")
    meant = get_close_matches(name, sorted(set(_keys(shape))), 1, cutoff=0.0)
    hint = f" Perhaps `{meant[0]}` was meant." if meant else ""
    return f"There is no key `{name[:100]}`{place}.{hint}"


def _keys(shape: type[Struct]) -> Iterator[str]:
    """Of the shape, and of whatever is inside it."""
    for each in msgspec.structs.fields(shape):
        yield each.encode_name
        for kind in (each.type, *get_args(each.type)):
            if isinstance(kind, type) and issubclass(kind, Struct):
                yield from _keys(kind)
