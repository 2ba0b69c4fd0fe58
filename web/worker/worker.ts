/** Works while no page is open: shows what the hub pushes, sends the answer, and shows its outcome. Keeps only the page's own files. */
import { describe } from "../src/device";
import { learnLanguage, t } from "./texts";
import { keepShell, leaveAlone, watchShell } from "./shell";
import { isDelivered, isMeant, readNotice, truth, type AskNotice, type Notice } from "./notices";

declare const self: ServiceWorkerGlobalScope;

/** How long an outcome stays. */
const LINGER = 4000;
/** How often, and how many times, to ask whether Claude received an answer. */
const LOOK_AGAIN = 1000;
const LOOKS = 10;
const PATIENCE = 20_000;
const PICTURES = { icon: "/icon-192.png", badge: "/badge-96.png" };
/** WebKit ends a subscription whose pushes show nothing, so there each one shows something, if only for a moment. */
const STRICT = navigator.userAgent.includes("AppleWebKit") && !navigator.userAgent.includes("Chrome");

interface Shown {
  title: string;
  body: string;
  tag: string;
  data: unknown;
  silent?: boolean;
  actions?: { action: string; title: string }[];
}

self.addEventListener("install", (event) => {
  void self.skipWaiting();
  leaveAlone(event);
});
self.addEventListener("activate", (event) => event.waitUntil(Promise.all([self.clients.claim(), keepShell()])));
watchShell();
self.addEventListener("push", (event) => event.waitUntil(receive(event.data)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(click(event.notification.data, event.action));
});
self.addEventListener("notificationclose", (event) => {
  const notice = readNotice(event.notification.data);
  if (notice?.kind === "ask") event.waitUntil(tellClosed(notice));
});
self.addEventListener("pushsubscriptionchange", (event) => (event as ExtendableEvent).waitUntil(move(event as unknown as Moved)));

async function receive(data: PushMessageData | null): Promise<void> {
  const notice = readNotice(jsonOf(data));
  // A newer hub may send what we don't know yet; a person is needed in any case.
  if (!notice) await learnLanguage(read);
  if (!notice) return show({ title: t("worker.needs_you"), body: "", tag: "handraise", data: null });
  if ("waiting" in notice) count(notice.waiting);
  switch (notice.kind) {
    case "ask":
      return showAsk(notice);
    case "settled":
      return takeBack(notice.ask, notice.title, notice.body);
    case "ended":
      return show({ title: notice.title, body: notice.body, tag: notice.session, data: notice });
    case "trial":
      return show({ title: notice.title, body: notice.body, tag: "handraise-trial", data: notice });
  }
}

async function showAsk(notice: AskNotice): Promise<void> {
  const actions = notice.answers.map((each) => ({ action: each.name, title: each.title }));
  const shown = { title: notice.title, body: notice.body, tag: notice.ask, data: { ...notice, shownAt: Date.now() }, actions };
  if (!(await isLookedAt())) return show(shown);
  // The page itself notifies, if the card is not in view there.
  if (STRICT) await showBriefly({ ...shown, actions: [], silent: true });
}

/** The notification of this ask shows how it ended, and disappears. */
async function takeBack(ask: string, title: string, body: string): Promise<void> {
  const shown = await self.registration.getNotifications({ tag: ask });
  // The outcome of an answer just given stays.
  if (shown.some((each) => each.data?.answered)) return;
  if (shown.length > 0 || STRICT) await showBriefly({ title: title || t("worker.no_longer_needed"), body, tag: ask, data: null, silent: true });
}

async function click(data: unknown, action: string): Promise<void> {
  const notice = readNotice(data);
  const offered = notice?.kind === "ask" ? notice.answers.find((each) => each.name === action) : undefined;
  const { shownAt } = (data ?? {}) as { shownAt?: unknown };
  // Too quick to be meant for this one: the card itself is opened instead.
  if (notice?.kind === "ask" && offered && isMeant(offered, shownAt, Date.now())) return answer(notice, action);
  return open(notice ?? (data as { notice?: Notice } | null)?.notice ?? null);
}

/** Sends exactly the answer that was offered, to exactly what was shown. */
async function answer(notice: AskNotice, action: string): Promise<void> {
  const offered = notice.answers.find((each) => each.name === action);
  if (!offered) return;
  const path = `/api/asks/${encodeURIComponent(notice.ask)}`;
  const [{ status, reply }] = await Promise.all([ask("POST", `${path}/answer`, { answer: offered.answer, digest: notice.digest }), learnLanguage(read)]);
  const outcome = truth(notice, offered, status, reply);
  const shown = { body: outcome.body, tag: notice.ask, data: { answered: true, notice }, silent: true };
  await show({ ...shown, title: outcome.title });
  if (outcome.settled) await tellClosed(notice);
  if (status !== 200) return;
  for (let look = 0, now = reply; look < LOOKS; look += 1) {
    if (isDelivered(now)) return showBriefly({ ...shown, title: t("worker.delivered", { done: offered.done }) });
    await pause(LOOK_AGAIN);
    now = (await ask("GET", path)).reply;
  }
  await show({ ...shown, title: t("worker.not_received", { done: offered.done }) });
}

/** Opens the page at the card. */
async function open(notice: Notice | null): Promise<void> {
  const path = notice && "path" in notice ? notice.path : "/";
  const card = notice?.kind === "ask" ? `#card-${notice.ask}` : "";
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((each) => each.focused) ?? pages.find((each) => each.visibilityState === "visible") ?? pages[0];
  if (!page) {
    await self.clients.openWindow(path + card);
    return;
  }
  page.postMessage({ open: path + card });
  await page.focus().catch(() => undefined);
}

/** The browser gave this device a new endpoint: tell the hub, so that nothing is lost. */
async function move({ oldSubscription, newSubscription }: Moved): Promise<void> {
  const push = (await ask("GET", "/api/push")).reply as { key?: string | null } | null;
  if (!push?.key) return;
  const fresh = newSubscription ?? (await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: push.key }));
  const { endpoint, keys } = fresh.toJSON();
  const replaces = oldSubscription?.endpoint;
  await ask("POST", "/api/push/devices", { endpoint, keys, label: describe(navigator.userAgent), made_for: push.key, ...(replaces ? { replaces } : {}) });
}

interface Moved {
  oldSubscription?: PushSubscription | null;
  newSubscription?: PushSubscription | null;
}

/** Nothing has to be removed here any more. */
async function tellClosed(notice: AskNotice): Promise<void> {
  if (notice.device) await ask("POST", `/api/push/devices/${encodeURIComponent(notice.device)}/closed`, { ask: notice.ask });
}

async function isLookedAt(): Promise<boolean> {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return pages.some((page) => page.focused && page.visibilityState === "visible");
}

async function show({ title, ...rest }: Shown): Promise<void> {
  await self.registration.showNotification(title, { ...PICTURES, ...rest } as NotificationOptions);
}

async function showBriefly(shown: Shown): Promise<void> {
  await show(shown);
  await pause(LINGER);
  for (const each of await self.registration.getNotifications({ tag: shown.tag })) each.close();
}

/** On the app's icon; nothing waits for it. */
function count(waiting: number): void {
  const badge = self.navigator as WorkerNavigator & { setAppBadge?: (count: number) => Promise<void> };
  badge.setAppBadge?.(waiting).catch(() => undefined);
}

/** The hub's reply; status 0 means that there was none. */
async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; reply: unknown }> {
  try {
    const response = await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    return { status: response.status, reply: await response.json().catch(() => null) };
  } catch {
    return { status: 0, reply: null };
  }
}

/** What the hub has at this path, or null. */
async function read(path: string): Promise<unknown> {
  const { status, reply } = await ask("GET", path);
  return status === 200 ? reply : null;
}

function jsonOf(data: PushMessageData | null): unknown {
  try {
    return data?.json() ?? null;
  } catch {
    return null;
  }
}

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
