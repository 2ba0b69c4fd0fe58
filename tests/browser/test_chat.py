"""A conversation with the real CLI: streaming text, code, thinking, actions, changes, sub-agents and images."""

from base64 import b64decode
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from browser.home import home
from browser.window import needs_browser, window
from handraise.demo.pieces import Script, agent, say, think, use
from handraise.demo.request import Conversation
from handraise.model.projects import Options

pytestmark = needs_browser

# The smallest picture there is: one pixel.
PIXEL = b64decode("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=")
CODE = 'def greet(name):\n    return f"Hello {name}"'
WORDS = f"I look at **greet** first.\n\n```python\n{CODE}\n```\n\n| old | new |\n|---|---|\n| a | b |\n"
LONG = "# The end\n\nIt is **nearly** done, in `many` words:\n\n```sh\n" + "echo more\n" * 500

# Says what the button says next: it does so for a moment only.
PRESS = """
  (button) => new Promise((told) => {
    const status = button.querySelector("[role=status]");
    const look = () => status.textContent && told(status.textContent);
    new MutationObserver(look).observe(status, { childList: true, characterData: true, subtree: true });
    button.click();
  })
"""


def helper(conversation: Conversation) -> Script:
    yield [use("Bash", command="echo inside", description="Look")]
    yield [say("There are **two** of them.")]


def works(conversation: Conversation) -> Script:
    where = conversation.directory
    conversation = yield [
        think("Where does it *greet*?"),
        say(WORDS),
        use("Read", file_path=f"{where}/service.py"),
        use("Read", file_path=f"{where}/shot.gif"),
    ]
    conversation = yield [agent("Look for more", "Find whatever greets.", helper)]
    conversation = yield [
        use("Edit", file_path=f"{where}/service.py", old_string="import json", new_string="import json as j\nimport os")
    ]
    conversation = yield [use("Bash", command="seq 1 60; exit 3", description="Count")]
    yield [say(LONG, pace=0.2)]


async def test_a_turn_is_told_with_all_that_claude_did(tmp_path: Path) -> None:
    options = Options(mode="bypassPermissions")
    async with home(tmp_path, works, options=options) as at, at.serve() as up, window() as screen:
        (at.work / "shot.gif").write_bytes(PIXEL)
        session = (await up.hub.desk.start("Change the greeting.", str(at.work))).session
        clipboard = ["clipboard-read", "clipboard-write"]
        page = await screen.open(up, f"/sessions/{session.id}", permissions=clipboard)
        main = page.locator("main")

        # What is being written is Markdown already; what was written stays when it is interrupted.
        await expect(page.locator(".streaming h1, .streaming h2, .streaming h3")).to_have_text("The end")
        await expect(page.locator(".streaming strong")).to_have_text("nearly")
        await expect(page.locator(".streaming .code")).to_contain_text("echo more")
        await page.get_by_role("button", name="Interrupt").click()
        await expect(main.get_by_text("Interrupted. Send a message to continue.")).to_be_visible()
        await expect(page.locator(".streaming")).to_have_count(0)
        await expect(main.locator("strong", has_text="nearly")).to_be_visible()
        await expect(page.locator(".event.turn")).to_contain_text("Turn 1 · ")
        await expect(page.locator(".event.turn")).to_contain_text(" s · $0.")

        await expect(page.locator(".prose table td")).to_have_text(["a", "b"])
        code = page.locator(".code", has_text="greet")
        await expect(code.locator(".hljs-keyword").first).to_have_text("def")
        copy = code.get_by_role("button", name="Copy code")
        assert await copy.evaluate(PRESS) == "Copied"
        assert await page.evaluate("navigator.clipboard.readText()") == CODE
        await page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
        await expect(code.get_by_role("status")).to_have_text("")
        assert await copy.evaluate(PRESS) == "Couldn't copy"

        await expect(main.get_by_text("Where does it greet?")).to_have_count(0)
        await unfold(main.locator(".thinking"))
        await expect(main.locator(".thinking em")).to_have_text("greet")

        reads = main.locator(".action", has_text="Read 2 files").first
        await unfold(reads)
        await unfold(reads.locator(".action", has_text="shot.gif"))
        await expect(reads.locator(".shown-pictures img")).to_have_js_property("naturalWidth", 1)

        inside = main.locator(".sub-agent")
        await expect(inside.locator("summary").first).to_contain_text("Sub-agent")
        await unfold(inside)
        await unfold(inside.locator(".action", has_text="echo inside"))
        await expect(inside.get_by_label("Output")).to_have_text("inside")

        await side_by_side(page)
        count = main.locator(".action.failed", has_text="seq 1 60")
        await expect(count.locator(".action-state")).to_contain_text("failed")
        await unfold(count)
        await expect(count.get_by_label("Output")).not_to_contain_text("60")
        await count.get_by_role("button", name="37 more lines").click()
        await expect(count.get_by_label("Output")).to_contain_text("60")

        await expect(main.get_by_text("Unrecognized message")).to_have_count(0)
        await page.get_by_label("More actions").click()
        await page.get_by_label("Show unrecognized messages").check()
        await expect(main.get_by_text("Unrecognized message").first).to_be_attached()


async def side_by_side(page: Page) -> None:
    change = page.locator("main .action", has_text="service.py").filter(has_text="Changed")
    await unfold(change)
    await expect(change.locator(".count")).to_have_text("+2 −1")
    await expect(change.locator("table.unified tr.gone .line")).to_have_text("import json")
    await change.get_by_role("button", name="Side by side").click()
    rows = change.locator("table.split tr")
    await expect(rows.nth(0).locator(".line")).to_have_text(["import json", "import json as j"])
    await expect(rows.nth(1).locator(".line")).to_have_text(["import os"])
    await page.reload()  # the preferred layout is remembered
    await unfold(change)
    await expect(change.locator("table.split")).to_be_visible()
    await change.get_by_role("button", name="Unified").click()
    await expect(change.locator("table.unified")).to_be_visible()


async def unfold(what: Locator) -> None:
    await what.locator("summary").first.click()
