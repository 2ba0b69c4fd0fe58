/** Web Push for this browser: whether it is possible, whether it is on, and the way back to a card. */
import { computed, effect, signal } from "@preact/signals";
import { describe } from "./device";
import type { Device, Devices, NewDevice, Push, Tried } from "./generated/api";
import { known, me, ready, standing } from "./store/desk";
import { ask, get, post } from "./store/http";
import { chosen, go } from "./store/place";

/** The state and its reason. Only `on` and `off` can be changed from here. */
export type PushState = "loading" | "on" | "off" | "unsupported" | "insecure" | "install" | "blocked" | "closed";

/** The person did not allow it, or the browser has no push service. */
export class NotAllowed extends Error {}
export class NoService extends Error {}

/** The device that this browser is registered as, and who did it. */
interface DeviceRecord {
  id: string;
  person: string;
}

const KEY = "handraise.push";

export const pushState = signal<PushState>("loading");
export const devices = signal<readonly Device[]>([]);
const record = signal<DeviceRecord | null>(read());
/** The hub's id for this browser. */
export const thisDevice = computed(() => record.value?.id ?? null);
/** Whether pushes reach this browser, so that the page doesn't notify a second time. */
export const isPushed = computed(() => pushState.value === "on");

const ALL: NonNullable<NewDevice["kinds"]> = ["question", "permission", "plan", "form", "trust", "ended"];

export function watchPush(): void {
  // If the hub forgot it, or the browser moved, it is registered again after signing in.
  effect(() => {
    if (standing.value === "in") void refresh();
  });
  navigator.serviceWorker?.addEventListener("message", (event: MessageEvent<{ open?: unknown }>) => {
    if (typeof event.data.open === "string") openCard(event.data.open);
  });
  if (location.hash.startsWith("#card-")) openCard(location.pathname + location.hash);
}

/** Determines the state, and repairs what can be repaired without asking. */
export async function refresh(): Promise<void> {
  // Before anyone is signed in, this device belongs to no one. Called again after that.
  if (me.value === null) return;
  const hindrance = whyNot();
  const push = await get<Push>("/api/push").catch(() => null);
  devices.value = (await get<Devices>("/api/push/devices").catch(() => null))?.devices ?? devices.value;
  if (hindrance) return settle(hindrance);
  if (push && !push.enabled) return settle("closed");
  const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  if (record.value !== null && record.value.person !== me.value?.name) {
    // Another person has signed in since, and did not turn this on.
    await subscription?.unsubscribe();
    remember(null);
  }
  if (!subscription || thisDevice.value === null) return settle("off");
  // A hub that could not be reached has not turned anything off.
  if (!push) return settle("on");
  if (!push.key) return settle("off");
  if (!devices.value.some((each) => each.id === thisDevice.value)) await introduce(subscription, push.key);
  settle("on");
}

/** On a click: browsers only ask the person then. */
export async function switchOn(): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") {
    settle(whyNot() ?? "off");
    throw new NotAllowed();
  }
  const { key } = await get<Push>("/api/push");
  if (key === null) return settle("closed");
  const { pushManager } = await navigator.serviceWorker.ready;
  const before = await pushManager.getSubscription();
  // A subscription for another key is useless to this hub.
  if (before) await before.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }).catch(() => {
    throw new NoService();
  });
  await introduce(subscription, key, ALL);
  settle("on");
}

export async function switchOff(): Promise<void> {
  const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  await subscription?.unsubscribe();
  if (thisDevice.value !== null) await remove(thisDevice.value);
}

/** Before signing out: the next person must not receive these notifications. */
export async function forget(): Promise<void> {
  if (pushState.value === "on") await switchOff().catch(() => undefined);
}

export async function remove(id: string): Promise<void> {
  await ask("DELETE", `/api/push/devices/${encodeURIComponent(id)}`).catch(() => undefined);
  if (id === thisDevice.value) remember(null);
  await refresh();
}

/** Why it could not be sent; empty if it was. */
export async function tryOut(id: string): Promise<string | null> {
  const { trouble } = await post<Tried>(`/api/push/devices/${encodeURIComponent(id)}/test`);
  await refresh();
  return trouble;
}

/** Which kinds of notifications this device receives. */
export async function setEnded(wanted: boolean): Promise<void> {
  const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  const { key } = await get<Push>("/api/push");
  if (subscription && key) await introduce(subscription, key, wanted ? ALL : ALL.filter((kind) => kind !== "ended"));
  await refresh();
}

/** Closes notifications of asks that are settled, including the worker's, so that the hub need not withdraw them. */
export async function closeSettled(open: ReadonlySet<string>): Promise<void> {
  if (!("serviceWorker" in navigator) || typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const registration = await navigator.serviceWorker.getRegistration();
  for (const each of (await registration?.getNotifications()) ?? []) {
    // A notification that reports an outcome stays, to be read.
    if (!each.tag.startsWith("a_") || open.has(each.tag) || each.data?.answered) continue;
    each.close();
    if (thisDevice.value !== null) await post(`/api/push/devices/${encodeURIComponent(thisDevice.value)}/closed`, { ask: each.tag }).catch(() => undefined);
  }
}

async function introduce(subscription: PushSubscription, key: string, kinds?: NewDevice["kinds"]): Promise<void> {
  const { endpoint, keys } = subscription.toJSON();
  const body = { endpoint, keys, label: describe(navigator.userAgent), made_for: key, ...(kinds ? { kinds } : {}) };
  const device = await post<Device>("/api/push/devices", body);
  remember(device.id);
  devices.value = [...devices.value.filter((each) => each.id !== device.id), device];
}

function remember(id: string | null): void {
  record.value = id === null ? null : { id, person: me.value?.name ?? "" };
  if (record.value === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, JSON.stringify(record.value));
}

function read(): DeviceRecord | null {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "null") as DeviceRecord | null;
  } catch {
    return null;
  }
}

function settle(state: PushState): void {
  pushState.value = state;
}

/** Why push can't work here, if it can't. */
function whyNot(): PushState | null {
  if (!isSecureContext) return "insecure";
  const apple = /iPhone|iPad|iPod/.test(navigator.userAgent) || (navigator.userAgent.includes("Macintosh") && navigator.maxTouchPoints > 1);
  const installed = matchMedia("(display-mode: standalone)").matches || (navigator as { standalone?: boolean }).standalone === true;
  if (apple && !installed) return "install";
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || typeof Notification === "undefined") return "unsupported";
  return Notification.permission === "denied" ? "blocked" : null;
}

/** Goes to a path with a card in its hash, and scrolls to that card once it is there. */
export function openCard(path: string): void {
  const [where = "/", hash = ""] = path.split("#");
  const card = hash.replace(/^card-/, "");
  go(where);
  if (!card) return;
  history.replaceState(null, "", where);
  const end = effect(() => {
    if (!ready.value || !known.value.asks.has(card)) return;
    chosen.value = card;
    requestAnimationFrame(() => {
      document.getElementById(`card-${card}`)?.scrollIntoView({ block: "nearest" });
      end();
    });
  });
}
