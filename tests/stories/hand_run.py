"""A Claude that a person runs in a terminal, beside a hub: the real interactive program on a pseudo-terminal."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from handraise.claude.locate import locate
from surfaces.terminal.pseudo import DEADLINE, ENTER, Pseudo

DIALOG = "Do you want"
_READY = "❯"
_TAKEN = 0.4


class HandRun(Pseudo):
    """The program, once it takes messages."""

    async def say(self, text: str) -> None:
        """Types a message, sees it, and sends it."""
        self.type(text)
        await self.wait(lambda: any(row.startswith("❯") and text in row for row in self.lines), f"❯ {text}")
        self.type(ENTER)

    async def press(self, key: str, *, gone: str) -> None:
        """Presses a key until what should go is gone: a dialog ignores keys in its first second."""
        async with asyncio.timeout(DEADLINE):
            while gone in self.screen:
                self.type(key)
                try:
                    async with asyncio.timeout(_TAKEN):
                        await self.wait(lambda: gone not in self.screen)
                except TimeoutError:
                    continue


@asynccontextmanager
async def by_hand(
    work: Path, environment: Mapping[str, str], *options: str, mode: str = "default"
) -> AsyncIterator[HandRun]:
    """Claude in a terminal, in a directory that its user trusts."""
    home = Path(environment["HOME"])
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
    (home / ".claude.json").write_text(
        json.dumps(
            {
                "hasCompletedOnboarding": True,
                "lastOnboardingVersion": "9.9.9",
                "theme": "dark",
                "customApiKeyResponses": {"approved": [environment["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
                "projects": {str(work): known},
            }
        )
    )
    words = (str(locate()), "--permission-mode", mode, *options)
    async with HandRun(*words, environment=environment, cwd=str(work), columns=110, rows=45) as terminal:
        await terminal.until(_READY, "shift+tab" if mode == "plan" else "? for shortcuts")
        yield terminal
