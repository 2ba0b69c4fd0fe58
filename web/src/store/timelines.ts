/** The opened conversations: their items in pages, live items, and text that is still being written. */
import { signal, type Signal } from "@preact/signals";
import type { Items } from "../generated/api";
import type { Item, ItemOf, Preview } from "../feed/model";
import { Timeline, type TimelineEntry } from "../feed/timeline";
import { removed, takeHistory } from "./desk";
import { get } from "./http";

/** How much is loaded at once: enough for a screen, then no more than can be drawn between a few frames. */
const FIRST = 160;
const OLDER = 100;
/** At once, on the way to an item far back. */
const FAR = 1000;
/** How long to wait for a page that is being loaded, in milliseconds. */
const SOON = 50;

export interface Conversation {
  readonly blocks: Signal<readonly (readonly TimelineEntry[])[]>;
  readonly waiting: Signal<readonly ItemOf<"said">[]>;
  readonly previews: Signal<readonly Preview[]>;
  readonly state: Signal<"loading" | "loaded" | "failed">;
  /** Whether there is history before what is here. */
  readonly older: Signal<"none" | "more" | "loading">;
}

interface Talk extends Conversation {
  items: Item[];
  early: Item[];
  timeline: Timeline;
  before: number | null;
}

const talks = new Map<string, Talk>();

/** The conversation of a session; loaded when it is first opened. */
export function conversation(session: string): Conversation {
  const found = talks.get(session);
  if (found) return found;
  const talk: Talk = {
    blocks: signal([]),
    waiting: signal([]),
    previews: signal([]),
    state: signal("loading"),
    older: signal("none"),
    items: [],
    early: [],
    timeline: new Timeline(),
    before: null,
  };
  talks.set(session, talk);
  void load(session, talk);
  return talk;
}

async function load(session: string, talk: Talk): Promise<void> {
  talk.state.value = "loading";
  try {
    const page = await get<Items>(`/api/sessions/${encodeURIComponent(session)}/items?texts=excerpt&limit=${FIRST}`);
    const items = page.items as unknown as Item[];
    const last = items.at(-1)?.cursor ?? 0;
    talk.items = [...items, ...[...talk.items, ...talk.early].filter((item) => item.cursor > last)];
    talk.early = [];
    takeHistory(talk.items);
    talk.timeline = new Timeline(talk.items);
    remember(talk, page.next);
    talk.state.value = "loaded";
  } catch {
    talk.state.value = "failed";
    setTimeout(() => {
      if (talks.get(session) === talk) void load(session, talk);
    }, 2000);
  }
}

/** History up to this item. Whether it is here then. */
export async function loadBackTo(session: string, cursor: number): Promise<boolean> {
  for (;;) {
    const talk = talks.get(session);
    if (!talk) return false;
    if (talk.state.value !== "loaded" || talk.older.value === "loading") {
      await new Promise((done) => setTimeout(done, SOON));
      continue;
    }
    const first = talk.items[0]?.cursor ?? 0;
    if (first <= cursor) return true;
    if (talk.before === null) return false;
    await loadOlder(session, FAR);
    if (talk.older.value === "more" && talk.items[0]?.cursor === first) return false;
  }
}

/** An item with all of its texts: those in a conversation may be cut. */
export async function fetchItem({ session, cursor }: { session: string | null; cursor: number }): Promise<Item | null> {
  if (session === null) return null;
  const page = await get<Items>(`/api/sessions/${encodeURIComponent(session)}/items?after=${cursor - 1}&limit=1`).catch(() => null);
  const [item] = (page?.items ?? []) as unknown as Item[];
  return item?.cursor === cursor ? item : null;
}

/** Whether files may have changed in the turn that ended with this item. */
export function changedFiles({ session, cursor }: ItemOf<"turn.ended">): boolean {
  const items = (session !== null && talks.get(session)?.items) || [];
  for (let at = items.findLastIndex((each) => each.cursor === cursor) - 1; at >= 0; at -= 1) {
    const item = items[at] as Item;
    if (item.type === "turn.ended") return false;
    if (item.type === "action.started" && (item.kind === "file_change" || item.kind === "command")) return true;
  }
  return false;
}

/** One more page of history, inserted at the top. */
export async function loadOlder(session: string, limit = OLDER): Promise<void> {
  const talk = talks.get(session);
  if (!talk || talk.before === null || talk.older.value === "loading") return;
  talk.older.value = "loading";
  try {
    const page = await get<Items>(`/api/sessions/${encodeURIComponent(session)}/items?texts=excerpt&limit=${limit}&before=${talk.before}`);
    const items = page.items as unknown as Item[];
    takeHistory(items);
    talk.items = [...items, ...talk.items];
    talk.timeline = new Timeline(talk.items, talk.timeline);
    remember(talk, page.next);
  } catch {
    talk.older.value = "more";
  }
}

function remember(talk: Talk, before: number | null): void {
  talk.before = before;
  talk.older.value = before === null ? "none" : "more";
  publish(talk);
}

/** Live items. */
export function followTimelines(items: readonly Item[]): void {
  const touched = new Set<Talk>();
  for (const item of items) {
    if (item.type === "session.removed" && item.session !== null) talks.delete(item.session);
    const talk = item.session === null ? undefined : talks.get(item.session);
    if (!talk) continue;
    if (talk.state.value !== "loaded") talk.early.push(item);
    else if (item.cursor > (talk.items.at(-1)?.cursor ?? 0)) {
      talk.items.push(item);
      talk.timeline.add(item);
      endPreview(talk, item);
      touched.add(talk);
    }
  }
  touched.forEach(publish);
}

/** The feed position was lost: what is loaded may have a gap, and is loaded again. */
export function forgetTimelines(): void {
  for (const [session, talk] of talks) {
    if (removed.value.has(session)) talks.delete(session);
    else void load(session, talk);
  }
}

export function showPreview(preview: Preview): void {
  const talk = talks.get(preview.session);
  if (!talk) return;
  const others = talk.previews.value.filter((each) => !(each.message === preview.message && each.index === preview.index));
  talk.previews.value = [...others, preview];
}

/** A stored block replaces its preview. */
function endPreview(talk: Talk, item: Item): void {
  const previews = talk.previews.value;
  if (!previews.length) return;
  if (item.type === "turn.ended" || item.type === "session.ended") talk.previews.value = [];
  else if (item.type === "text" || item.type === "thinking") {
    talk.previews.value = previews.filter((each) => each.message !== item.message || each.kind !== item.type || !item.text.startsWith(each.text));
  } else if (item.type === "action.started") talk.previews.value = previews.filter((each) => each.parent !== item.parent);
}

function publish(talk: Talk): void {
  talk.blocks.value = talk.timeline.blocks;
  talk.waiting.value = talk.timeline.waiting;
}
