"""The pictures in docs/telegram.md, from a real hub with the real CLI: `dev/pictures --telegram` retakes them."""

import asyncio
from pathlib import Path

from playwright.async_api import Page, ViewportSize

from browser.readme import PICTURES, place
from browser.window import window
from desk.hubs import put_ask, put_session
from handraise.demo.project import SERVICE_FILES
from handraise.demo.scenarios import SCENARIOS
from handraise.hub.hub import Hub
from handraise.model.asks import Permission
from handraise.model.projects import Options
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member, TelegramConfig
from stories.house import House, house
from stories.telegram_house import PACE, ShiftedClock, TelegramHouse, make_bot
from surfaces.telegram.bot_api import TOKEN, BotApi, bot_api
from surfaces.telegram.chats import FakeChat, ShownMessage
from surfaces.telegram.people import Someone
from surfaces.telegram.picture import take_picture

PHONE = ViewportSize(width=390, height=300)
ANA, BEN = Member(1001, "ana", "admin"), Member(1002, "ben", "approver")


async def shoot(page: Page, name: str, chat: FakeChat, viewer: Someone, toast: str = "") -> None:
    await take_picture(page, PICTURES / f"telegram-{name}.png", chat, viewer, toast=toast)


def forget(there: TelegramHouse, *messages: ShownMessage) -> None:
    """The person deletes what the next picture doesn't need."""
    for each in messages:
        if not each.deleted:
            there.ana.delete(each)


async def private(page: Page, home: House, hub: Hub, api: BotApi, ana: Someone) -> None:
    """A session from its start to its answer, in a private chat."""
    config, clock = TelegramConfig(TOKEN, (ANA,), api=api.base), ShiftedClock()
    there = TelegramHouse(home, hub, api, clock, ana)
    chat = ana.private
    async with make_bot(hub, config, home.tmp / "telegram", clock):
        ana.start()
        await chat.message("/new")
        forget(there, *chat.messages)
        ana.write("/new Add a health endpoint to this service, with a test.")
        question = await chat.message("Which path")
        await shoot(page, "question", chat, ana)

        await there.press(question, "2. /healthz", "⬜️ 1. Uptime", "Done", "Send these answers")
        plan = await chat.message("Claude has a plan")
        await there.closed(question)
        forget(there, *chat.messages[:-2])
        await shoot(page, "plan", chat, ana)

        await there.press(plan, "Approve")
        await there.closed(plan)
        for headline in ("Write 37 lines to service.py?", "Create test_health.py"):
            change = await chat.message(headline)
            await there.press(change, "Allow once")
            await there.closed(change)
        command = await chat.message("Run python3 -m unittest")
        forget(there, *chat.messages[:-2])
        await shoot(page, "permission", chat, ana)
        await there.press(command, "Allow once")
        await there.closed(command)
        await chat.message("all tests pass")
        await shoot(page, "answer", chat, ana)


async def group(page: Page, hub: Hub, api: BotApi, folder: Path, ana: Someone) -> None:
    """Someone presses what only others may answer."""
    ben, eve = api.someone(BEN.number, "Ben"), api.someone(1003, "Eve")
    team = api.supergroup("Shop team", ana, ben, eve)
    config = TelegramConfig(TOKEN, (ANA, BEN), (ChatPlace(team.number),), api=api.base)
    await put_session(hub)
    async with make_bot(hub, config, folder, ShiftedClock()):
        await put_ask(hub, body=Permission("Bash", {"command": "git push origin main", "description": "Push the fix"}))
        card = await team.button("Deny")
        await shoot(page, "group", team, eve, await eve.press(card, "Allow once").toast())


async def main() -> None:
    with place() as folder:
        async with (
            bot_api(pace=PACE) as api,
            house(folder, SCENARIOS["health_endpoint"]) as (home, hub),
            window() as screen,
        ):
            context = await screen.browser.new_context(viewport=PHONE, device_scale_factor=2)
            page = await context.new_page()
            for name, text in SERVICE_FILES.items():
                (home.work / name).write_text(text)
            await hub.desk.add_project(str(home.work), "toy-service", Options())
            ana = api.someone(ANA.number, "Ana")
            await private(page, home, hub, api, ana)
            await group(page, hub, api, folder / "group", ana)
            await context.close()


if __name__ == "__main__":
    asyncio.run(main())
