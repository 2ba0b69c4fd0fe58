/** Where the person is: the page's URL, and the current card. */
import { computed, effect, signal } from "@preact/signals";
import { sameOf } from "../inbox/same";
import { openAsks, openBySession } from "./desk";
import { isInInbox } from "./machines";

export type Place = { view: "inbox" } | { view: "sessions" } | { view: "session"; id: string; part?: "changes" } | { view: "admin"; page: string };

export const ADMIN = ["projects", "rules", "tokens", "webhooks", "machines", "audit", "statistics", "notifications", "settings"] as const;

export const place = signal<Place>(read(location.pathname));
/** The card that keys go to, if the person moved there; the first open one otherwise. */
export const chosen = signal<string | null>(null);
/** The item that a link leads to, by its cursor; each visit is another object. */
export const target = signal<{ readonly cursor: number } | null>(aimed());
/** The session that the chat tab goes back to. */
export const lastSession = signal<string | null>(null);

/** The requests that the inbox shows. */
export const inboxAsks = computed(() => openAsks.value.filter(isInInbox));

/** The cards of the current conversation. */
const own = computed(() => (place.value.view === "session" ? (openBySession.value.get(place.value.id) ?? []).map((ask) => ask.id) : []));

/** Open asks, with identical ones side by side. */
const lined = computed(() => sameOf(openAsks.value).flatMap((same) => same.asks.map((ask) => ask.id)));

/** Those that the inbox shows: keys never reach one that its filter hides. */
const shown = computed(() => sameOf(inboxAsks.value).flatMap((same) => same.asks.map((ask) => ask.id)));

/** The cards that keys can reach from here, in order. */
export const reachable = computed(() => {
  const here = place.value;
  if (here.view === "inbox") return shown.value;
  return here.view === "session" ? [...own.value, ...lined.value.filter((id) => !own.value.includes(id))] : [];
});

export const current = computed(() => {
  const list = reachable.value;
  if (chosen.value !== null && list.includes(chosen.value)) return chosen.value;
  // A card of another session is answered by keys only after the person moved there.
  return (place.value.view === "session" ? own.value[0] : list[0]) ?? null;
});

let order: readonly string[] = [];
// When the chosen card is settled, the one behind it is next.
effect(() => {
  const list = reachable.value;
  const at = chosen.value === null || place.value.view !== "inbox" ? -1 : order.indexOf(chosen.value);
  if (at >= 0 && !list.includes(chosen.value as string)) {
    const rest = order.filter((id) => list.includes(id));
    const behind = order.slice(at + 1).find((id) => list.includes(id));
    chosen.value = behind ?? rest.at(-1) ?? null;
  }
  order = list;
});

export function go(path: string): void {
  if (path !== location.pathname + location.hash) history.pushState(null, "", path);
  arrive();
  // Keys belong to what is shown, not to the link that led there.
  requestAnimationFrame(() => document.querySelector("main")?.focus({ preventScroll: true }));
}

export function pathOf(to: Place): string {
  switch (to.view) {
    case "inbox":
      return "/";
    case "sessions":
      return "/sessions";
    case "session":
      return `/sessions/${encodeURIComponent(to.id)}${to.part ? `/${to.part}` : ""}`;
    case "admin":
      return `/admin/${to.page}`;
  }
}

function arrive(): void {
  place.value = read(location.pathname);
  target.value = aimed();
  chosen.value = null;
  if (place.value.view === "session") lastSession.value = place.value.id;
}

function aimed(): { cursor: number } | null {
  const found = /^#at-(\d{1,15})$/.exec(location.hash);
  return found ? { cursor: Number(found[1]) } : null;
}

function read(path: string): Place {
  const [first, second, third] = path.split("/").filter(Boolean);
  if (first === "sessions" && second) return { view: "session", id: decodeURIComponent(second), ...(third === "changes" ? { part: third } : {}) };
  if (first === "sessions") return { view: "sessions" };
  if (first === "admin") return { view: "admin", page: ADMIN.find((page) => page === second) ?? "projects" };
  return { view: "inbox" };
}

if (place.value.view === "session") lastSession.value = place.value.id;
addEventListener("popstate", arrive);
// Links of our own stay inside the page.
addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-inside]") : null;
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.pathname + link.hash);
});
