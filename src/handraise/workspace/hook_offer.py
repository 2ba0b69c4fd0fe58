"""The offer to bring Claudes in terminals in: open until a hook was written or it was dismissed."""

from contextlib import suppress
from pathlib import Path

_FILE = "hook-offer-closed"


class HookOffer:
    """Remembered in the state folder. If that can't be written, the offer stays."""

    def __init__(self, state: Path) -> None:
        self._file = state / _FILE

    @property
    def is_open(self) -> bool:
        return not self._file.exists()

    def close(self) -> None:
        with suppress(OSError):
            self._file.touch(mode=0o600)
