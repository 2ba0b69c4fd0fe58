"""Text as PostgreSQL can store it: it knows no NUL. Never touches a connection."""

from typing import Any

_ESCAPE = "\x1a"
"""The control character SUBSTITUTE. What it stands for follows it."""


def storable(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """The value with its NULs escaped. Half characters raise UnicodeEncodeError, as they would later on."""
    if isinstance(value, str):
        if not value.isascii():
            value.encode()
        if "\x00" in value or _ESCAPE in value:
            return value.replace(_ESCAPE, f"{_ESCAPE}1").replace("\x00", f"{_ESCAPE}0")
        return value
    if isinstance(value, list) and value and not isinstance(value[0], int | bytes):
        return [storable(each) for each in value]
    return value


def original(cell: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """The value as it was before `storable`."""
    if isinstance(cell, str) and _ESCAPE in cell:
        return cell.replace(f"{_ESCAPE}0", "\x00").replace(f"{_ESCAPE}1", _ESCAPE)
    return cell
