"""On what a session starts: with what of its directory, and with what instead. Pure."""

from collections.abc import Mapping

from msgspec import Struct

_MEMORY = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}
"""Without a project's settings Claude reads `CLAUDE.md` only of directories that are added, and only with this."""


class StartContext(Struct, frozen=True):
    """On what a session starts. Untrusted, nothing that the directory brings is used; its texts can be read."""

    trusted: bool = False
    keeps_hooks: bool = False
    """The directory would switch off all hooks, and with them the guard over its settings."""
    reading_list: str | None = None
    own_servers: str | None = None
    note: str = ""

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """For Claude."""
        return {**given, **({} if self.trusted else _MEMORY)}
