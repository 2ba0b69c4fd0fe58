"""The terminal as a followed session needs it: a screen, plain lines, or no terminal at all."""

from collections.abc import Sequence
from typing import Protocol

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.surfaces.terminal.lines import Line


class TerminalIO(Protocol):
    """A terminal, as a followed session needs it."""

    @property
    def live(self) -> bool:
        """Whether what runs is visible before it ends."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """Columns, and rows for what is drawn."""
        ...

    def show(self, lines: Sequence[Line]) -> None:
        """Prints lines that stay."""
        ...

    def take(self, items: Sequence[Item]) -> None:
        """Everything unprocessed, for implementations that don't print lines."""
        ...

    def refresh(self) -> None:
        """Something that is drawn has changed."""
        ...

    def call(self, ask: Ask) -> None:
        """A person is needed."""
        ...

    def keep(self, text: str) -> None:
        """Puts unsent text where it can still be sent."""
        ...

    async def edit(self, text: str, suffix: str) -> str:
        """The text after editing; raises EditorFailed."""
        ...
