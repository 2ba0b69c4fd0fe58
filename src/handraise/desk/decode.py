"""A hub's responses as our types: items and errors. Pure."""

from datetime import datetime
from typing import Any

import msgspec

from handraise.desk import interface
from handraise.desk.interface import Conflict, DeskError, NotLetIn, TooLate, Unreached
from handraise.model.asks import ask_from_json
from handraise.model.items import Item

_ERRORS: dict[str, type[DeskError]] = {
    "not_found": interface.NotFound,
    "refused": interface.Refused,
    "unfit": interface.Unfit,
    "invalid": interface.Invalid,
    "unavailable": interface.Unreached,
    "too_many_open": interface.Unreached,
}
_NOT_LET_IN = ("unknown_token", "login_needed", "not_allowed", "wrong_host", "foreign_page")


def decode(content: bytes) -> Any:  # noqa: ANN401 (JSON)
    return msgspec.json.decode(content)


def item_in(fields: dict[str, Any]) -> Item:
    cursor, session, at = fields.pop("cursor"), fields.pop("session"), fields.pop("at")
    return Item(cursor, session, msgspec.convert(at, datetime), msgspec.json.encode(fields))


def error_in(content: bytes) -> DeskError:
    """The hub's refusal as one of the desk's own errors."""
    try:
        error = msgspec.json.decode(content)["error"]
        code, message = error["code"], error["message"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return Unreached("The server there is not a Handraise hub.")
    if "ask" in error and code in ("conflict", "withdrawn"):
        return (Conflict if code == "conflict" else TooLate)(message, ask_from_json(error["ask"]))
    if code in _NOT_LET_IN:
        return NotLetIn(message)
    kind = _ERRORS.get(code, DeskError)
    return kind(message)
