"""The pictures in the README, from the demo with the real CLI: `dev/pictures --readme` retakes them."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyte
from playwright.async_api import Page, expect

from browser.window import PHONE, WIDE, Window, window
from handraise.hub.desk import LocalDesk
from handraise.model.answers import Allow, Answer
from handraise.model.asks import Ask
from handraise.serving.demo import demonstration
from handraise.serving.serve import RunningHub
from surfaces.terminal.pseudo import Pseudo, handraise
from surfaces.terminal.svg import picture

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
ROWS = 34


async def asked(desk: LocalDesk, kind: str, tool: str = "") -> Ask:
    """The open ask of this kind and tool, as soon as Claude has raised it."""
    async with asyncio.timeout(150), desk.follow(0) as follower:
        async for _ in follower:
            for ask in await desk.asks():
                if ask.kind == kind and tool in ask.tool:
                    return ask
    raise AssertionError("the feed ended")


async def answer(desk: LocalDesk, given: Answer, kind: str, tool: str = "") -> None:
    ask = await asked(desk, kind, tool)
    await desk.answer(ask.id, given, ask.digest)


async def shoot(page: Page, name: str, kind: str) -> None:
    await expect(page.locator(f".card.{kind}[data-armed]").first).to_be_visible()
    await page.evaluate("document.fonts.ready")
    await page.screenshot(path=PICTURES / f"{name}.png")


async def press(page: Page, kind: str, *keys: str) -> None:
    """Answers the card of this kind, like a person who has read it."""
    await expect(page.locator(f".card.{kind}.current[data-armed]")).to_be_visible()
    for key in keys:
        await page.keyboard.press(key)
        await page.wait_for_timeout(900)


async def open_page(screen: Window, up: RunningHub, path: str, **kind: Any) -> Page:
    return await screen.open(up, path, reduced_motion="reduce", **kind)


async def terminal(state: Path, environment: Mapping[str, str]) -> pyte.Screen:
    """`handraise inbox` in a terminal, at the permission to write a file."""
    command = handraise("inbox", "--state", str(state))
    async with Pseudo(*command, environment=environment, cwd=str(state.parent), rows=ROWS) as shown:
        await shown.until("Form", "Esc to postpone")
        shown.type("j")
        await shown.until("Permission", "Esc to postpone", gone="Form ·")
        return shown.emulator


@contextmanager
def place() -> Iterator[Path]:
    """A folder with a short name, since the pictures show it."""
    folder = Path(tempfile.gettempdir()) / "handraise-demo"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


async def main() -> None:
    with place() as folder:
        async with demonstration(folder, 0) as up, window(worker=True) as screen:
            desk = up.hub.desk
            question = await asked(desk, "question")
            await answer(desk, Allow(), "permission", "release")
            await asked(desk, "form")
            page = await open_page(screen, up, "/", viewport=WIDE)
            await shoot(page, "inbox", "question")
            await page.goto(f"{up.base}/sessions/{question.session}")
            await press(page, "question", "1", "1", "2", "Enter")
            await shoot(page, "conversation", "plan")
            await press(page, "plan", "a")
            await asked(desk, "permission", "Write")
            dark = await open_page(screen, up, f"/sessions/{question.session}", viewport=WIDE, color_scheme="dark")
            await shoot(dark, "dark", "permission")
            phone: dict[str, Any] = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}
            small = await open_page(screen, up, "/", viewport=PHONE, **phone)
            await press(small, "form", "j")
            await shoot(small, "phone", "permission")
            around = {key: os.environ[key] for key in ("PYTHONPATH", "HOME") if key in os.environ}
            drawn = picture(await terminal(folder / "state", around), "handraise inbox")
            (PICTURES / "terminal.svg").write_text(drawn)


if __name__ == "__main__":
    asyncio.run(main())
