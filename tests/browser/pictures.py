"""Pictures of every view, in both themes and sizes, for review: `dev/pictures FOLDER [VIEW...]`."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from api.served import Served
from browser import notified
from browser.showroom import BYPASS, Showroom
from browser.talk import LONG
from browser.window import PAGE, PHONE, WIDE, Window, window
from channels.ntfy_server import NtfyServer, ntfy_server
from handraise.serving.serve import RunningHub, ServeConfig, serving

Act = Callable[[Page], Awaitable[None]]

LOOKS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": WIDE},
    "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2},
}
CARDS = 9


def press(*keys: str) -> Act:
    async def act(page: Page) -> None:
        for key in keys:
            await page.keyboard.press(key)
            await page.wait_for_timeout(300)

    return act


def click(*selectors: str) -> Act:
    async def act(page: Page) -> None:
        for selector in selectors:
            await page.locator(selector).first.click(timeout=5_000)

    return act


def chained(*acts: Act) -> Act:
    async def act(page: Page) -> None:
        for each in acts:
            await each(page)

    return act


def typed(text: str) -> Act:
    async def act(page: Page) -> None:
        await page.keyboard.type(text)
        await page.wait_for_timeout(1_000)

    return act


async def look(_: Page) -> None:
    """As it is."""


async def upwards(page: Page) -> None:
    await page.locator(".history").evaluate("element => element.scrollTo({ top: 0 })")


async def unfolded(page: Page) -> None:
    await upwards(page)
    for each in (".thinking", ".action", ".action:has-text('Changed')", ".action.failed"):
        await page.locator(f"{each} > details > summary, details{each} > summary").first.click()


async def offline(page: Page) -> None:
    await page.route("**/api/feed*", lambda route: route.abort())
    await page.route("**/api/me", lambda route: route.abort())
    await page.reload()
    await expect(page.locator(".connection.offline").first).to_be_attached(timeout=10_000)


async def whole(page: Page) -> None:
    """Everything that would have to be scrolled to."""
    await expect(page.locator("main .empty")).to_have_count(0)
    await page.locator("main .unfolds > summary").first.click()
    size = page.viewport_size or WIDE
    height = await page.locator("main").evaluate("element => element.scrollHeight")
    await page.set_viewport_size({"width": size["width"], "height": height + 120})


async def whole_inbox(page: Page) -> None:
    await page.locator("main .over").last.scroll_into_view_if_needed()


# Name: URL, and what to do there before the picture is taken.
VIEWS: dict[str, tuple[str, Act]] = {
    **{f"card{number}": ("/", press(*("j",) * number)) for number in range(CARDS)},
    "missed": ("/", whole_inbox),
    "deny": ("/", press("j", "d")),
    "edit": ("/", press("j", "e")),
    "sides": ("/", chained(press("j"), click(".card >> text=Side by side"))),
    "why": ("/", click(".card .why summary")),
    "rule": ("/", click(".waiting-row >> nth=0", ".card .why summary", ".card .why .row-of-buttons button")),
    "sessions": ("/sessions", look),
    "filters": ("/sessions", click(".side [aria-label*=ilter]")),
    "chat": (f"/sessions/{LONG}", look),
    "chat-begin": (f"/sessions/{LONG}", upwards),
    "chat-unfolded": (f"/sessions/{LONG}", unfolded),
    "search": (f"/sessions/{LONG}", chained(click(".session-head [aria-label*=earch]"), typed("limiter"))),
    "menu": (f"/sessions/{LONG}", click(".session-head .menu > button")),
    "rename": (f"/sessions/{LONG}", click(".session-head .menu > button", ".menu-body >> text=Rename")),
    "fork": (f"/sessions/{LONG}", click(".session-head .menu > button", ".menu-body >> text=Fork")),
    "stop": (f"/sessions/{LONG}", click(".session-head .menu > button", ".menu-body >> text=Stop")),
    "own-card": ("/sessions/s_data", look),
    "bypass": (f"/sessions/{BYPASS}", look),
    "failed": ("/sessions/s_end0", look),
    "new": ("/", press("n")),
    "keys": ("/", press("?")),
    **{each: (f"/admin/{each}", look) for each in ("projects", "rules", "tokens", "audit", "statistics", "settings")},
    "notifications": ("/admin/notifications", look),
    "notifications-whole": ("/admin/notifications", whole),
    "channel": ("/admin/notifications", click("main section:nth-of-type(2) .primary")),
    "mute": (f"/sessions/{LONG}", click(".session-head .menu > button", ".menu-body >> text=Mute")),
    "new-token": ("/admin/tokens", click("main .primary")),
    "project": ("/admin/projects", click("main .unfolds summary")),
    "offline": ("/", offline),
}


async def take(
    screen: Window, up: RunningHub, views: dict[str, tuple[str, Act]], shoot: Callable[[str], Path], **kind: Any
) -> None:
    page = await screen.open(up, **kind)
    for name, (path, act) in views.items():
        await page.goto(up.base + path)
        await expect(page.locator(".connection.live").first).to_be_attached()
        await page.wait_for_timeout(300)
        try:
            await act(page)
        except Exception as error:  # one missing view is no reason to have no pictures
            sys.stderr.write(f"{name}: {str(error).splitlines()[0]}\n")
        await page.wait_for_timeout(300)
        await page.screenshot(path=shoot(name))
        await page.set_viewport_size(kind["viewport"])
    await page.context.close()


async def main(folder: Path, only: set[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    views = {name: view for name, view in VIEWS.items() if not only or name in only}
    for size, kind in LOOKS.items():
        for theme in ("light", "dark"):

            def shoot(name: str, size: str = size, theme: str = theme) -> Path:
                return folder / f"{name}-{size}-{theme}.png"

            with tempfile.TemporaryDirectory() as state:
                service = ServeConfig(
                    Path(state), Path("/bin/false"), {}, port=0, page=PAGE, notifications=notified.CONFIG
                )
                async with ntfy_server(NtfyServer()) as ntfy, serving(service) as up, window(worker=True) as screen:
                    screen.complaints = Silent()
                    if not only or "login" in only:
                        page = await screen.stranger(up, color_scheme=theme, **kind)
                        await page.goto(up.base)
                        await page.wait_for_timeout(300)
                        await page.screenshot(path=shoot("login"))
                    if not only or "welcome" in only:
                        await take(screen, up, {"welcome": ("/", look)}, shoot, color_scheme=theme, **kind)
                    if not only or "review" in only:
                        session = await Served(up, Path(state)).session(directory=str(changed_tree(Path(state))))
                        review: dict[str, tuple[str, Act]] = {"review": (f"/sessions/{session.id}/changes", look)}
                        await take(screen, up, review, shoot, color_scheme=theme, **kind)
                    if not only or "empty" in only:
                        await Served(up, Path(state)).session(phase="working")
                        await take(screen, up, {"empty": ("/", look)}, shoot, color_scheme=theme, **kind)
                    await Showroom(up).fill()
                    await notified.set_notifications(up, ntfy.port)
                    await take(screen, up, views, shoot, color_scheme=theme, **kind)


def changed_tree(folder: Path) -> Path:
    """A repository with a file that was changed, and a new one."""
    tree = folder / "tree"
    tree.mkdir()
    (tree / "greet.py").write_text("def greet(name):\n    return 'Hello ' + name\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=tree, check=True)
    (tree / "greet.py").write_text("def greet(name: str) -> str:\n    return f'Hello {name}'\n")
    (tree / "notes.md").write_text("# Notes\n\nGreetings have types.\n")
    return tree


class Silent(list[str]):
    """Ignores what a page complains about."""

    def append(self, _: str) -> None:
        pass


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), set(sys.argv[2:])))
