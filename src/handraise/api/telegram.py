"""The Telegram bot over HTTP: whether it works, and what to do if it doesn't."""

from collections.abc import Callable

from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, Route, answer


class UnreachableChat(Struct, frozen=True):
    """A chat that the bot can't write to, with Telegram's reason."""

    chat: int
    reason: str


class TelegramState(Struct, frozen=True):
    """The bot of this hub. `bot` is its user name, empty until Telegram has confirmed it."""

    enabled: bool = False
    """Whether the settings have a bot."""
    bot: str = ""
    trouble: str = ""
    """What is wrong and what to do. Empty if nothing is."""
    chats: tuple[UnreachableChat, ...] = ()
    waiting: int = 0
    """How many messages are waiting to be sent."""
    is_elsewhere: bool = False
    """Whether another hub with the same database runs the bot. This one takes over if that one stops."""


class TelegramRoutes:
    """The route of the bot. `state` says how it is at the moment."""

    def __init__(self, state: Callable[[], TelegramState]) -> None:
        self._state = state

    async def look(self, _: ApiRequest) -> Response:
        return answer(self._state())

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "GET", "/api/telegram", "viewer", self.look, "Get the state of the Telegram bot", returns=TelegramState
            ),
        )
