"""The terminal, as far as staying with a session needs one. A screen, plain lines, or nobody there."""

from collections.abc import Sequence
from typing import Protocol

from handraise.model.asks import Ask
from handraise.model.items import Item
from handraise.surfaces.terminal.lines import Line


class TerminalIO(Protocol):
    """A terminal, as far as staying needs one."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns, and rows for what is shown for now."""
        ...

    def show(self, lines: Sequence[Line]) -> None:
        """Prints lines that stay."""
        ...

    def take(self, items: Sequence[Item]) -> None:
        """Everything as it came, for those who want no lines."""
        ...

    def refresh(self) -> None:
        """Something of what is shown for now has changed."""
        ...

    def call(self, ask: Ask) -> None:
        """A person is needed."""
        ...

    def keep(self, text: str) -> None:
        """Text that was not sent goes where it can still be sent."""
        ...

    async def edit(self, text: str, suffix: str) -> str:
        """What an editor makes of a text; raises EditorFailed."""
        ...
