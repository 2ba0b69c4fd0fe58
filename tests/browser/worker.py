"""The page's worker in a real browser: delivers pushes to it as the browser would, and reads its notifications."""

import asyncio
import json
from dataclasses import dataclass
from itertools import count
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page, Worker

from surfaces.push.vendor import Phone, b64

DEADLINE = 60.0
AGAIN = 150

# Chromium can't reach a push service here, so the test provides its endpoint and keys.
SUBSCRIBING = """
  const keep = "test.subscription";
  const told = %s;
  const made = {
    ...told,
    toJSON: () => told,
    unsubscribe: async () => (localStorage.removeItem(keep), true),
  };
  self.subscribeReally = PushManager.prototype.subscribe;
  PushManager.prototype.subscribe = async (options) => {
    if (!options.userVisibleOnly || options.applicationServerKey !== %s) throw new Error("not for this hub");
    localStorage.setItem(keep, "yes");
    return made;
  };
  PushManager.prototype.getSubscription = async () => (localStorage.getItem(keep) ? made : null);
"""
READ = """
  self.registration.getNotifications().then((all) => all.map((each) => ({
    title: each.title, body: each.body, tag: each.tag, silent: each.silent, icon: each.icon,
    actions: each.actions.map(({action, title}) => [action, title]),
  })))
"""
PUT_AWAY = "self.registration.getNotifications().then((all) => all.forEach((each) => each.close()))"
PAGES = "self.clients.matchAll({ type: 'window', includeUncontrolled: true }).then((all) => all.length)"
# A synthetic event can't be waited for; wait for the promise it was given.
CLICK = """
  async ([tag, action, calm]) => {
    const [notification] = await self.registration.getNotifications({ tag });
    if (!notification) return "nothing is shown";
    // Who looks at it first.
    const left = calm && (notification.data?.shownAt ?? 0) + calm - Date.now();
    if (left > 0) await new Promise((done) => setTimeout(done, left));
    const event = new NotificationEvent("notificationclick", { notification, action });
    let working;
    event.waitUntil = (promise) => (working = promise);
    self.dispatchEvent(event);
    await working;
    return "done";
  }
"""
# Everything ever shown: a notification about the outcome disappears after a moment.
WATCH = """
  () => {
    self.everShown = [];
    self.show ??= self.registration.showNotification.bind(self.registration);
    self.registration.showNotification = (title, options) => {
      self.everShown.push([title, options.body ?? ""]);
      return self.show(title, options);
    };
  }
"""


def subscribing(phone: Phone) -> str:
    """A script that lets a page subscribe as this phone."""
    fields = {"endpoint": phone.endpoint, "keys": {"p256dh": b64(phone.point), "auth": b64(phone.auth)}}
    return SUBSCRIBING % (json.dumps(fields), json.dumps(phone.made_for))


@dataclass
class NotificationScreen:
    """What a person sees of a browser without an open page."""

    context: BrowserContext
    base: str
    cdp: CDPSession
    registration: str
    pushed: str = ""

    async def push(self, notice: dict[str, Any] | str) -> None:
        """Delivers a message to the worker, as the browser does after decrypting it."""
        self.pushed = notice if isinstance(notice, str) else json.dumps(notice)
        await self.cdp.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": self.base, "registrationId": self.registration, "data": self.pushed},
        )

    async def notifications(self) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = await self._worker.evaluate(READ)
        return shown

    async def until(self, **wanted: Any) -> dict[str, Any]:
        """The first notification that matches all of this.

        A worker that was just started may have missed the push: it is sent again, as any push service would.
        """
        async with asyncio.timeout(DEADLINE):
            for tries in count(1):
                for each in await self.notifications():
                    if all(each[name] == value for name, value in wanted.items()):
                        return each
                await asyncio.sleep(0.05)
                if tries % AGAIN == 0 and self.pushed:
                    await self.push(self.pushed)
        raise AssertionError("there is always another try")

    async def until_none(self, tag: str) -> None:
        async with asyncio.timeout(DEADLINE):
            while any(each["tag"] == tag for each in await self.notifications()):
                await asyncio.sleep(0.05)

    async def put_away(self) -> None:
        await self._worker.evaluate(PUT_AWAY)

    async def click(self, tag: str, action: str = "", *, calm: int = 1000) -> None:
        """A tap, after it was shown for this many milliseconds."""
        assert await self._worker.evaluate(CLICK, [tag, action, calm]) == "done"

    async def watch(self) -> None:
        await self._worker.evaluate(WATCH)

    async def ever_shown(self) -> list[list[str]]:
        shown: list[list[str]] = await self._worker.evaluate("self.everShown")
        return shown

    async def evaluate(self, script: str) -> Any:
        return await self._worker.evaluate(script)

    @property
    def _worker(self) -> Worker:
        return self.context.service_workers[-1]


async def screen_of(page: Page, base: str) -> NotificationScreen:
    """Replaces the page with an empty one, and continues with its worker. Nothing is shown yet."""
    context = page.context
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    await page.goto("about:blank")
    cdp = await context.new_cdp_session(page)
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def hear(event: dict[str, Any]) -> None:
        for each in event["registrations"]:
            if each["scopeURL"].startswith(base) and not each["isDeleted"] and not found.done():
                found.set_result(each["registrationId"])

    cdp.on("ServiceWorker.workerRegistrationUpdated", hear)
    await cdp.send("ServiceWorker.enable")
    async with asyncio.timeout(DEADLINE):
        screen = NotificationScreen(context, base, cdp, await found)
        # While someone looks at the page, no notification is shown.
        while await screen.evaluate(PAGES):
            await asyncio.sleep(0.05)
    await screen.put_away()
    return screen
