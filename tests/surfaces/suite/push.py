"""Web Push as a surface of the suite: a real hub, a push service on loopback, and the real worker in a real browser."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
from playwright.async_api import expect

from browser.home import free_port
from browser.window import PAGE, Window, log_in, window
from browser.worker import NotificationScreen, screen_of, subscribing
from handraise.model.answers import Choices
from handraise.model.asks import Ask, Body, Question
from handraise.surfaces.push.notifier import PushConfig
from surfaces.push.vendor import Phone, vendor
from surfaces.suite.cases import CASES, Gesture
from surfaces.suite.surface import ShownCard
from surfaces.suite.surface_hub import DEADLINE, SurfaceHub, answered_in, quiet_config

AT_ONCE = PushConfig(private_addresses=True, grace=timedelta(0))
OFFERED = frozenset(
    {
        "question: option",
        "permission: once",
        "permission: deny",
        "permission: deny, with a text",
        "change: once",
        "change: deny",
        "plan: revise",
        "plan: revise, without a text",
        "form: decline",
        "trust: without",
    }
)
"""The safest answer, and the most common one if everything to decide by is in view."""
AGAIN = 5.0
BUTTONS = {"once": "yes", "deny": "no", "revise": "no", "decline": "no", "without": "no"}
# Time is put forward where a person would look. What was shown is recorded: an outcome goes after a moment.
PREPARE = """() => {
  self.shown = [];
  self.ahead = 0;
  const [now, later] = [Date.now.bind(Date), self.setTimeout.bind(self)];
  Date.now = () => now() + self.ahead;
  self.setTimeout = (does, pause, ...rest) => later(does, Math.min(pause, 20), ...rest);
  let looking = [];
  const changed = () => looking.splice(0).forEach((look) => look());
  // Whether it became true within a second.
  self.until = (test) => new Promise((done) => {
    const look = () => (test() ? done(true) : looking.push(look));
    look();
    later(() => done(false), 1000);
  });
  self.textsOf = (tag) => self.shown.filter(([each]) => each === tag).map(([, text]) => text);
  const show = self.registration.showNotification.bind(self.registration);
  self.registration.showNotification = async (title, options) => {
    await show(title, options);
    self.shown.push([options.tag, `${title} ${options.body ?? ""}`]);
    changed();
  };
  self.heard = {};
  const read = PushMessageData.prototype.json;
  PushMessageData.prototype.json = function () {
    const notice = read.call(this);
    self.heard[`${notice.kind} ${notice.ask}`] = true;
    changed();
    return notice;
  };
  self.clients.openWindow = async (path) => { self.opened = path; return null; };
}"""
# A synthetic event can't be waited for; the promise that it was given can.
TAP = """async (tag, action, times) => {
  const [notification] = await self.registration.getNotifications({ tag });
  if (!notification) return false;
  const working = [];
  for (let time = 0; time < times; time += 1) {
    const event = new NotificationEvent("notificationclick", { notification, action });
    event.waitUntil = (promise) => working.push(promise);
    self.dispatchEvent(event);
  }
  await Promise.all(working);
  return true;
}"""
AHEAD = "(more) => { self.ahead += more; }"


class PushSurface:
    """A device whose page is closed. What the hub sends reaches it unless it is held back."""

    person = "ana"
    source = "web"
    absent: Mapping[str, str] = {
        case.name: "a notification has two buttons, and grants only what it shows completely"
        for case in CASES
        if case.name not in OFFERED
    }
    differs: Mapping[str, str] = {
        "permission: deny, with a text": "a notification has no text field",
        "plan: revise": "a notification has no text field",
    }
    folded: frozenset[str] = frozenset()
    follows: frozenset[str] = frozenset()
    shows_all = False
    shows_again = False
    answers_late = False

    def __init__(self, hub: SurfaceHub, phone: Phone, screen: NotificationScreen, opened: Window) -> None:
        self.hub = hub
        self.about_to_send: Callable[[], object] = bool
        self.presses = 1
        self._phone = phone
        self._screen = screen
        self._window = opened
        self._reached = asyncio.Event()
        self._reached.set()

    async def carry(self) -> None:
        """Hands the worker what the push service received, in order. Until it is cancelled."""
        for number in itertools.count():
            async with self._phone.changed:
                while len(self._phone.delivered) <= number:
                    await self._phone.changed.wait()
            await self._reached.wait()
            await self._push(self._phone.delivered[number].notice)

    async def _push(self, notice: dict[str, Any]) -> None:
        """Until the worker has it: a browser may lose one, and a push service sends it again."""
        heard = f"self.heard['{notice['kind']} {notice.get('ask')}']"
        await self._screen.evaluate(f"() => {{ {heard} = false; }}")
        while not await self._screen.evaluate(heard):
            await self._screen.push(notice)
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN):
                    await self._until(heard)

    async def shown(self, ask: Ask) -> ShownCard:
        found = await self._displayed(ask)
        text = " ".join(f"{found['title']} {found['body']}".split())
        return ShownCard(text, tuple(title for _, title in found["actions"]))

    async def act(self, ask: Ask, gesture: Gesture) -> None:
        await self._screen.evaluate(f"({AHEAD})(1100)")
        await self._tap(ask, gesture)

    async def act_early(self, body: Body, gesture: Gesture) -> Ask:
        ask = await self.hub.open(body)
        await self.shown(ask)
        # As if it had come just now: how long a test takes to tap is not known.
        await self._screen.evaluate(f"({AHEAD})(-3_600_000)")
        await self._tap(ask, gesture)
        await self._screen.evaluate(f"({AHEAD})(3_600_000)")
        assert f"card-{ask.id}" in await self._screen.evaluate("self.opened")
        # The tap has closed it; the person looks at the card, and this device has it again.
        await self._push(await self._notice(ask))
        await self.shown(ask)
        return ask

    async def says(self, ask: Ask, *words: str) -> str:
        later = f"self.textsOf({ask.id!r}).slice(1).join(' ')"
        try:
            async with asyncio.timeout(DEADLINE):
                await self._until(f"{later} && {json.dumps(words)}.every((word) => {later}.includes(word))")
        except TimeoutError:
            raise AssertionError(f"never {words}: {await self._texts(ask)}") from None
        return " ".join((await self._texts(ask))[1:])

    def own_outcome(self, ask: Ask) -> str:
        answered = answered_in(ask)
        assert answered is not None
        if isinstance(answered.answer, Choices):
            return f"Answered: {answered.answer.answers[0].labels[0]}"
        return {"Allow": "Allowed", "Deny": "Denied", "Revise": "Sent back", "Filled": "Declined"}.get(
            type(answered.answer).__name__, "Running without them"
        )

    async def offered(self, ask: Ask) -> tuple[str, ...]:
        found = await self._screen.notifications()
        return tuple(title for each in found if each["tag"] == ask.id for _, title in each["actions"])

    @asynccontextmanager
    async def unaware(self) -> AsyncIterator[None]:
        self._reached.clear()
        with self._window.trouble_expected():
            yield
        self._reached.set()

    async def leave(self) -> None:
        self._reached.clear()

    async def come_back(self) -> None:
        self._reached.set()

    async def restart_hub(self) -> None:
        await self.hub.stop()
        await self.hub.start()

    async def clear(self) -> None:
        self._reached.set()
        assert self._window.complaints == []

    async def _tap(self, ask: Ask, gesture: Gesture) -> None:
        name = BUTTONS.get(gesture.act, "")
        if isinstance(ask.body, Question):
            labels = [option.label for option in ask.body.questions[0].options]
            name = str(labels.index(gesture.picks[0].labels[0]) + 1)
        await self._displayed(ask)
        self.about_to_send()
        assert await self._screen.evaluate(f"({TAP})('{ask.id}', '{name}', {self.presses})")

    async def _displayed(self, ask: Ask) -> dict[str, Any]:
        """Its notification. Chromium forgets one if it is asked for its list at the very moment: it is sent again."""
        async with asyncio.timeout(DEADLINE):
            await self._until(f"self.textsOf({ask.id!r}).length > 0")
            while True:
                for each in await self._screen.notifications():
                    if each["tag"] == ask.id:
                        return each
                times = len(await self._texts(ask))
                await self._push(await self._notice(ask))
                await self._until(f"self.textsOf({ask.id!r}).length > {times}")

    async def _texts(self, ask: Ask) -> list[str]:
        """Everything that was ever shown for it."""
        texts: list[str] = await self._screen.evaluate(f"self.textsOf({ask.id!r})")
        return texts

    async def _until(self, test: str) -> None:
        """In the worker, which says when something has changed: asking again and again costs more than the rest."""
        while not await self._screen.evaluate(f"self.until(() => {test})"):
            pass

    async def _notice(self, ask: Ask) -> dict[str, Any]:
        return (await self._phone.until(lambda each: (each["kind"], each.get("ask")) == ("ask", ask.id))).notice


@asynccontextmanager
async def push_surface(tmp: Path) -> AsyncIterator[PushSurface]:
    """While this is entered."""
    async with (
        vendor() as service,
        SurfaceHub(quiet_config(tmp, page=PAGE, port=free_port(), push=AT_ONCE)) as hub,
        window(notifying=True) as opened,
        asyncio.TaskGroup() as tasks,
    ):
        token = (await hub.up.auth.make("a viewer", "viewer", hub.up.hub.desk.person, "test")).secret
        async with httpx2.AsyncClient(base_url=hub.up.base, headers={"authorization": f"Bearer {token}"}) as client:
            phone = service.phone((await client.get("/api/push")).json()["key"])
        page = await opened.stranger(hub.up, script=subscribing(phone), permissions=["notifications"])
        await log_in(page, hub.up, "ana", "admin")
        await page.goto("/admin/settings")
        await page.get_by_role("button", name="Turn on").click()
        await expect(page.get_by_text("On for this device")).to_be_visible()
        screen = await screen_of(page, hub.up.base)
        await screen.evaluate(PREPARE)
        surface = PushSurface(hub, phone, screen, opened)
        carrying = tasks.create_task(surface.carry())
        yield surface
        carrying.cancel()
