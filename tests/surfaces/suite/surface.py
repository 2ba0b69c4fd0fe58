"""What the suite needs to know of a surface, and what it can do there as a person would."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from handraise.model.asks import Ask, Body
from surfaces.suite.cases import Gesture
from surfaces.suite.surface_hub import SurfaceHub


class ShownCard(NamedTuple):
    """What a person reads on an open card, on one line, and the labels of what can be pressed there."""

    text: str
    labels: tuple[str, ...]


class Surface(Protocol):
    """One way to see and answer, through its real program. Each method waits for what it is about."""

    hub: SurfaceHub
    person: str
    """Whose answers these are."""
    source: str
    """Where the store says that they come from."""
    absent: Mapping[str, str]
    """The cases that are not offered here, and why."""
    differs: Mapping[str, str]
    """The cases that are offered, but not in this way, and why."""
    folded: frozenset[str]
    """The acts that stand behind another one, or have no label of their own."""
    follows: frozenset[str]
    """What it still says of a request that is over: `late`, `delivered`."""
    shows_all: bool
    """Whether all of the evidence is shown, also of what can only be refused here."""
    shows_again: bool
    """Whether a request that has changed can be answered here, once it was looked at."""
    answers_late: bool
    """Whether a request that has expired can still be answered here."""

    about_to_send: Callable[[], object]
    """Called right before the press that sends an answer."""
    presses: int
    """How many times that is pressed, one right after the other."""

    async def shown(self, ask: Ask) -> ShownCard:
        """Its open card."""
        ...

    async def act(self, ask: Ask, gesture: Gesture) -> None:
        """Does it on purpose: after a look at all of the card."""
        ...

    async def act_early(self, body: Body, gesture: Gesture) -> Ask:
        """Opens an ask, and does it before anyone can have looked at the card. Returns when that had its effect."""
        ...

    async def says(self, ask: Ask, *words: str) -> str:
        """What it says about an ask, once that includes these words."""
        ...

    def own_outcome(self, ask: Ask) -> str:
        """How it words what was answered here."""
        ...

    async def offered(self, ask: Ask) -> tuple[str, ...]:
        """What can be pressed for this ask now."""
        ...

    def unaware(self) -> AbstractAsyncContextManager[None]:
        """Meanwhile it doesn't learn what happens at the hub, but what is done there is sent."""
        ...

    async def leave(self) -> None:
        """It is out of reach of the hub."""
        ...

    async def come_back(self) -> None:
        """It is in reach again."""
        ...

    async def restart_hub(self) -> None:
        """Returns when it has found the hub again."""
        ...

    async def clear(self) -> None:
        """Called after each scenario, when nothing is open any more."""
        ...
