"""The ask with its card, wherever the API shows one."""

from collections.abc import Sequence
from typing import Any

import msgspec

from handraise.desk.interface import Desk, DeskError
from handraise.model.asks import Ask, ask_as_json, ask_from_json
from handraise.model.items import AskOpened, AskSettled, Item
from handraise.present.cards import card_as_json, card_of

_ASKS = (b'"type":"ask.opened"', b'"type":"ask.settled"')


async def with_card(desk: Desk, ask: Ask) -> dict[str, Any]:
    """The ask as the API shows it."""
    return {**ask_as_json(ask), "card": card_as_json(card_of(ask, await _directory(desk, ask.session)))}


async def as_json(desk: Desk, item: Item) -> bytes:
    """The item, with the card of the ask that it is about."""
    if not any(mark in item.content[:40] for mark in _ASKS):
        return item.as_json()
    content = item.read()
    try:
        if isinstance(content, AskOpened):
            ask = ask_from_json(content.ask)
            card = card_of(ask, await _directory(desk, ask.session))
            added: dict[str, Any] = {"ask": {**content.ask, "card": card_as_json(card)}}
        elif isinstance(content, AskSettled):
            added = {"card": (await with_card(desk, await desk.ask(content.ask)))["card"]}
        else:
            return item.as_json()
    except DeskError:
        return item.as_json()
    return msgspec.json.encode({**msgspec.json.decode(item.as_json()), **added})


async def _directory(desk: Desk, session: str | None) -> str | None:
    if session is None:
        return None
    try:
        return (await desk.session(session)).session.directory
    except DeskError:
        return None
