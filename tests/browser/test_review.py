"""What a session changed, reviewed on the page: the real CLI writes files, a person comments, and reverts."""

import subprocess
from pathlib import Path

from msgspec.structs import replace
from playwright.async_api import expect

from browser.home import Home, home
from browser.window import PHONE, log_in, needs_browser, window
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.store.changes import SaveSession

pytestmark = needs_browser

NEW = "def greet(name):\n    return f'Hello {name}'\n\n\nprint(greet('<b>you</b>'))\n"
HOSTILE = "<img src=x onerror=alert(1)>.md"


def write_files(conversation: Conversation) -> Script:
    work = conversation.directory
    conversation = yield [use("Write", file_path=f"{work}/src/greet.py", content=NEW)]
    conversation = yield [
        use("Write", file_path=f"{work}/{HOSTILE}", content="Just *text* </td><script>alert(1)</script>\n")
    ]
    conversation = yield [use("Write", file_path=f"{work}/README.md", content="# Changed\n")]
    conversation = yield [say("All files are written.")]
    while True:
        conversation = yield [say(f"I read: {conversation.text}")]


def commit(at: Home) -> None:
    (at.work / "README.md").write_text("# Service\r\n\r\nOld text.\r\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=at.work, check=True, capture_output=True, timeout=60)


async def test_changes_are_reviewed_commented_on_and_reverted(tmp_path: Path) -> None:
    async with home(tmp_path, write_files) as at, at.serve() as up, window() as screen:
        commit(at)
        session = (await up.hub.desk.start("Write files.", str(at.work), mode="acceptEdits")).session
        page = await screen.open(up, f"/sessions/{session.id}")
        await page.get_by_role("link", name="Review changes").click()

        files = page.locator(".review-files li")
        await expect(files).to_have_count(3)
        await expect(page.locator(".review-head")).to_contain_text("3 files changed")
        await expect(page.locator(".review-head")).to_contain_text("Since the session started, commit")
        greet = page.get_by_role("region", name="src/greet.py").first
        await expect(greet.locator("tr.added")).to_have_count(5)
        await expect(page.locator(".review-file .code-keyword").first).to_have_text("def")
        readme = page.locator(".review-file", has=page.locator("code", has_text="README.md"))
        await expect(readme.locator(".note")).to_have_text("Line endings change from CRLF to LF")
        odd = page.locator(".review-file", has=page.locator("code", has_text=HOSTILE))
        await expect(odd.locator("td.line").first).to_have_text("Just *text* </td><script>alert(1)</script>")

        # A comment goes to Claude, with its file and its line.
        await greet.get_by_role("button", name="Comment on line 2", exact=True).click()
        await expect(page.get_by_label("Comment", exact=True)).to_be_focused()
        await page.keyboard.type("Greet in the person's language.")
        await page.reload()  # the draft survives
        await greet.get_by_role("button", name="Comment on line 2", exact=True).click()
        await expect(page.get_by_label("Comment", exact=True)).to_have_value("Greet in the person's language.")
        await page.keyboard.press("Control+Enter")
        await expect(greet.locator(".comment.sent")).to_contain_text("Sent to Claude")
        await page.get_by_role("link", name="Back to the conversation").click()
        answer = page.locator("main").get_by_text("I read: Review comment on src/greet.py, line 2:")
        await expect(answer).to_be_visible()
        await expect(page.locator("main").get_by_text("Greet in the person's language.").first).to_be_visible()

        # A revert asks first, and says that it was done.
        await page.get_by_role("link", name="Changes", exact=True).click()
        file = page.locator(".review-file", has=page.locator("code", has_text="src/greet.py"))
        await file.get_by_role("button", name="Revert").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        assert (at.work / "src/greet.py").read_text() == NEW
        await file.get_by_role("button", name="Revert").click()
        await expect(page.get_by_role("dialog")).to_contain_text("The file is new. Reverting deletes it.")
        await page.get_by_role("dialog").get_by_role("button", name="Revert").click()
        await expect(files).to_have_count(2)
        assert not (at.work / "src").exists()
        # One that changed again is not reverted: the person has not seen that.
        await expect(readme.locator("tr.added")).to_have_count(1)
        (at.work / "README.md").write_text("# Changed again\n")
        await readme.get_by_role("button", name="Revert").click()
        with screen.trouble_expected():
            await page.get_by_role("dialog").get_by_role("button", name="Revert").click()
            await expect(page.get_by_role("alert")).to_contain_text("it changed again")
        assert (at.work / "README.md").read_text() == "# Changed again\n"
        await page.get_by_role("button", name="Refresh").click()
        await expect(readme.locator("tr.added")).to_contain_text("Changed again")
        entries = await up.hub.desk.audit(what="file reverted")
        assert [entry.detail["name"] for entry in entries] == ["src/greet.py"]

        # Those who may answer see the same, and no way to revert it. On a phone, nothing is sideways.
        guest = await screen.stranger(up, viewport=PHONE)
        await log_in(guest, up, role="approver")
        await guest.goto(f"/sessions/{session.id}/changes")
        await expect(guest.locator(".review-file tr.added").first).to_be_visible()
        await expect(guest.get_by_role("button", name="Revert")).to_have_count(0)
        assert await guest.evaluate("document.querySelector('.review').scrollWidth <= innerWidth")

        # Those who may only look at conversations don't see files.
        looker = await screen.stranger(up)
        await log_in(looker, up, role="viewer")
        with screen.trouble_expected():
            await looker.goto(f"/sessions/{session.id}/changes")
            await expect(looker.get_by_role("alert")).to_have_text("Requires the approver role (you are a viewer).")
        await expect(looker.locator(".review-link")).to_have_count(0)

        # Without a repository, the conversation's own edits are shown; a machine that is away is named.
        subprocess.run(
            ["rm", "-rf", str(at.work / ".git"), str(tmp_path / "state/sessions" / session.id / "start.json")],
            check=True,
        )
        await page.get_by_role("button", name="Refresh").click()
        await expect(page.locator(".review")).to_contain_text("This directory isn't a Git repository.")
        await expect(page.locator(".review-file")).to_have_count(3)
        away = replace(session, id="s_away", machine="m_away", phase="ended")
        await up.hub.store.apply([SaveSession(away)])
        with screen.trouble_expected():
            await page.goto(f"{up.base}/sessions/s_away/changes")
            await expect(page.locator(".review")).to_contain_text("Machine `m_away` is away.")
