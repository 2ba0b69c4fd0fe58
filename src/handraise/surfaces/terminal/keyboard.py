"""The keyboard of a screen: stays ours while lines are printed, and is lent to an editor or the shell."""

import contextlib
from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

# prompt_toolkit's name for a key, and the dialogue's.
NAMED = {
    "up": "up",
    "down": "down",
    "enter": "enter",
    " ": "space",
    "left": "back",
    "backspace": "back",
    "escape": "escape",
    "pageup": "pageup",
    "pagedown": "pagedown",
    "home": "home",
    "end": "end",
}


class _Keyboard(Vt100Input):
    """A key pressed while lines are printed is still a key, not an echo or a signal.

    `together`: the key arrived together with others, as in a paste.
    """

    def __init__(self, terminal: TextIO, lent: Callable[[], bool]) -> None:
        super().__init__(terminal)
        self._lent = lent
        self.together = False

    def read_keys(self) -> list[KeyPress]:
        keys = super().read_keys()
        self.together = len([each for each in keys if each.key != Keys.CPRResponse]) > 1
        return keys

    def flush_keys(self) -> list[KeyPress]:
        self.together = False
        return super().flush_keys()

    def cooked_mode(self) -> contextlib.AbstractContextManager[None]:
        return super().cooked_mode() if self._lent() else contextlib.nullcontext()


def is_together(keys: Input) -> bool:
    """Whether the last key arrived together with others."""
    return isinstance(keys, _Keyboard) and keys.together


def keyboard(lent: Callable[[], bool]) -> Input:
    """The terminal's own, even if stdin is a pipe. `lent`: another program reads it, in the usual mode."""
    found = create_input(always_prefer_tty=True)
    return _Keyboard(found.stdin, lent) if isinstance(found, Vt100Input) else found
