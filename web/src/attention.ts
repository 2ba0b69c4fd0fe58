/** How the page asks for attention when it is not in view: the title, the icon, a notification, a short sound. */
import { effect, signal } from "@preact/signals";
import type { Ask } from "./feed/model";
import { machineLabel } from "./parts/MachineName";
import { closeSettled, isPushed, openCard, thisDevice } from "./push";
import { openAsks, ready, sessions } from "./store/desk";
import { current, pathOf } from "./store/place";
import { t } from "./texts";

export interface Wishes {
  notify: boolean;
  sound: boolean;
  night: boolean;
}

/** The hours without a sound. */
export const NIGHT = { from: 22, to: 7 };
const KEY = "handraise.attention";
/** Milliseconds, by which a card is painted. */
const SOON = 100;

export const wishes = signal<Wishes>(read());

const shown = new Map<string, Notification>();
const known = new Set<string>();
let began = false;

export function setWishes(next: Wishes): void {
  wishes.value = next;
  localStorage.setItem(KEY, JSON.stringify(next));
}

export function watchAttention(): void {
  let soon: ReturnType<typeof setTimeout> | undefined;
  const attend = () => {
    clearTimeout(soon);
    soon = undefined;
    count(openAsks.peek().length);
    if (ready.peek()) callFor(openAsks.peek());
  };
  effect(() => {
    void [openAsks.value, ready.value];
    // On a visible page the card is drawn first, then this runs.
    if (document.hidden) attend();
    else soon ??= setTimeout(attend, SOON);
  });
}

/** How many are waiting, where a browser shows it. */
function count(waiting: number): void {
  document.title = waiting ? `(${waiting}) ${t("page.name")}` : t("page.name");
  drawIcon(waiting);
  void (navigator as Navigator & { setAppBadge?: (count: number) => Promise<void> }).setAppBadge?.(waiting).catch(() => undefined);
}

/** Notifies about new asks, and removes the notifications of settled ones. */
function callFor(asks: readonly Ask[]): void {
  for (const ask of asks) {
    if (known.has(ask.id)) continue;
    known.add(ask.id);
    // What was open before the page was is already on the screen.
    if (began) call(ask);
  }
  began = true;
  const open = new Set(asks.map((ask) => ask.id));
  for (const [id, notification] of shown) {
    if (open.has(id)) continue;
    notification.close();
    shown.delete(id);
  }
  void closeSettled(open);
}

function call(ask: Ask): void {
  const seen = !document.hidden && document.hasFocus() && (current.peek() === ask.id || document.getElementById(`card-${ask.id}`) !== null);
  if (seen) return;
  if (wishes.peek().sound && !(wishes.peek().night && isNight())) ring();
  // A later push replaces what the worker has shown with the same tag; a notification of the page would be a second one.
  if (isPushed.peek()) return showByWorker(ask);
  if (!wishes.peek().notify || typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const session = ask.session === null ? undefined : sessions.peek().get(ask.session);
  const { title, body } = wordsOf(ask);
  try {
    const notification = new Notification(title, { body, tag: ask.id, icon: "/icon-192.png" });
    notification.onclick = () => {
      window.focus();
      openCard(`${session ? pathOf({ view: "session", id: session.id }) : "/"}#card-${ask.id}`);
      notification.close();
    };
    shown.set(ask.id, notification);
  } catch {
    // Phones allow notifications from a service worker only.
    showByWorker(ask);
  }
}

function showByWorker(ask: Ask): void {
  const { title, body } = wordsOf(ask);
  const path = ask.session === null ? "/" : pathOf({ view: "session", id: ask.session });
  const notice = { kind: "ask", device: thisDevice.peek() ?? "", ask: ask.id, digest: ask.digest, title, body, path, waiting: openAsks.peek().length, answers: [] };
  void navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, { body, tag: ask.id, icon: "/icon-192.png", badge: "/badge-96.png", data: notice }));
}

function wordsOf(ask: Ask): { title: string; body: string } {
  const session = ask.session === null ? undefined : sessions.peek().get(ask.session);
  return { title: ask.card.headline.replaceAll("`", ""), body: [session?.title ?? t("page.name"), machineLabel(ask)].filter(Boolean).join(" · ") };
}

function isNight(): boolean {
  const hour = new Date().getHours();
  return hour >= NIGHT.from || hour < NIGHT.to;
}

function ring(): void {
  // Browsers allow no sound on a page that was not touched yet.
  if (navigator.userActivation?.hasBeenActive === false) return;
  try {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.frequency.value = 660;
    volume.gain.setValueAtTime(0.12, audio.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.25);
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + 0.26);
    tone.onended = () => void audio.close();
  } catch {
    // No sound here.
  }
}

function drawIcon(count: number): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (!link) return;
  const badge = count
    ? `<circle cx="23" cy="9" r="9" fill="#d97706"/><text x="23" y="13" font-size="12" font-family="sans-serif" font-weight="700" text-anchor="middle" fill="#fff">${count > 9 ? "9+" : count}</text>`
    : "";
  const hand = `<rect width="32" height="32" rx="8" fill="#1c1917"/><g transform="translate(4 4)" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M7 11V5.5a1.5 1.5 0 0 1 3 0V10m0-5.5v-1a1.5 1.5 0 0 1 3 0V10m0-5a1.5 1.5 0 0 1 3 0v6m0-3.5a1.5 1.5 0 0 1 3 0V15a6 6 0 0 1-6 6h-1.5a6 6 0 0 1-4.6-2.2L4 14.5a1.6 1.6 0 0 1 2.4-2.1L8 14"/></g>`;
  link.href = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${hand}${badge}</svg>`)}`;
}

function read(): Wishes {
  try {
    return { notify: false, sound: false, night: true, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Wishes>) };
  } catch {
    return { notify: false, sound: false, night: true };
  }
}
