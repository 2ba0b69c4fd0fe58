"""Attachments survive a reload until they are sent, for the same person only; a first message completes, too."""

from pathlib import Path

from playwright.async_api import Page, expect

from api.served import served
from browser.test_composer import DROP
from browser.window import PAGE, log_in, needs_browser, window
from handraise.model.abilities import Abilities, SlashCommand
from handraise.session import abilities

pytestmark = needs_browser

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PASTE = """
  (field, data) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], "dot.png", { type: "image/png" }));
    field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: transfer }));
  }
"""
COUNT = """
  () => new Promise((done) => {
    const opening = indexedDB.open("handraise.attachments", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("drafts", { keyPath: "id" });
    opening.onsuccess = () => {
      const request = opening.result.transaction("drafts").objectStore("drafts").getAll();
      request.onsuccess = () => {
        opening.result.close();
        done(request.result.map((each) => `${each.who} ${each.id}: ${each.images.length} ${each.files.length}`));
      };
    };
  })
"""


async def kept(page: Page, *expected: str) -> None:
    await page.wait_for_function(
        f"async (expected) => JSON.stringify(await ({COUNT})()) === expected", arg=_json(expected)
    )


def _json(texts: tuple[str, ...]) -> str:
    return "[" + ",".join(f'"{each}"' for each in texts) + "]"


async def test_attachments_survive_a_reload_and_belong_to_one_person(tmp_path: Path) -> None:
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        session = await hub.session(phase="idle")
        path = f"/sessions/{session.id}"
        page = await screen.open(hub.up, path)
        await page.locator("#say").evaluate(PASTE, DOT)
        await page.locator(".composer").evaluate(DROP, {"name": "a.log", "type": "text/plain", "text": "one line"})
        await expect(page.locator(".pictures img")).to_have_count(1)
        await expect(page.locator(".text-file")).to_contain_text("a.log")
        await kept(page, f"owner say.{session.id}: 1 1")

        await page.reload()
        await expect(page.locator(".pictures img")).to_have_count(1)
        assert (
            await page.locator(".pictures img").evaluate("(image) => image.decode().then(() => image.naturalWidth)")
            == 1
        )
        await expect(page.locator(".text-file")).to_contain_text("a.log")
        await page.get_by_role("button", name="Remove dot.png").click()
        await expect(page.locator(".pictures img")).to_have_count(0)
        await kept(page, f"owner say.{session.id}: 0 1")
        await page.reload()
        await expect(page.locator(".text-file")).to_contain_text("a.log")
        await page.locator("#say").press("Enter")
        await expect(page.locator(".text-file")).to_have_count(0)
        await expect(page.locator(".not-taken")).to_contain_text("one line")
        await kept(page)

        # The next person at this browser gets nothing of it, and it is gone.
        await page.locator("#say").evaluate(PASTE, DOT)
        await kept(page, f"owner say.{session.id}: 1 0")
        with screen.trouble_expected():  # the page asks for something now and then
            await page.context.clear_cookies()
            await log_in(page, hub.up, "ann")
            await page.goto(hub.up.base + path)
        await expect(page.locator("#say")).to_be_visible()
        await kept(page)
        await expect(page.locator(".pictures img")).to_have_count(0)


async def test_the_first_message_completes_commands_and_files_of_the_chosen_directory(tmp_path: Path) -> None:
    work = tmp_path / "shop"
    (work / "src").mkdir(parents=True)
    (work / "src" / "app.py").write_text("x")
    async with served(tmp_path, page=PAGE) as hub, window() as screen:
        store = hub.up.hub.store
        await store.apply(abilities.saved(Abilities((SlashCommand("review", "Review it"),)), store.machine, str(work)))
        await hub.session(directory=str(work))
        page = await screen.open(hub.up)
        await page.keyboard.press("n")
        dialog = page.get_by_role("dialog")
        prompt, options = dialog.get_by_label("What should Claude do?"), dialog.locator(".prompt [role=option]")
        await expect(dialog.get_by_role("combobox", name="Directory")).to_have_value(str(work))
        await prompt.press_sequentially("/rev")
        await expect(options).to_contain_text(["/review"])
        await page.keyboard.press("Escape")
        await expect(options).to_have_count(0)
        await expect(dialog).to_be_visible()
        await prompt.press_sequentially("i")
        await page.keyboard.press("Tab")
        await expect(prompt).to_have_value("/review ")
        await prompt.press_sequentially("@app")
        await expect(options).to_have_text(["src/app.py"])
        await page.keyboard.press("Enter")
        await expect(prompt).to_have_value("/review @src/app.py ")
        await prompt.evaluate(PASTE, DOT)
        await expect(dialog.locator(".pictures img")).to_have_count(1)
        await kept(page, "owner new.say: 1 0")
        await page.reload()
        await expect(page.get_by_role("button", name="New session").first).to_be_enabled()
        await page.keyboard.press("n")
        await expect(dialog.locator(".pictures img")).to_have_count(1)
        await expect(prompt).to_have_value("/review @src/app.py ")
