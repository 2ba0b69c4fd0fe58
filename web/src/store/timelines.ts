/** The conversations that were opened: their items in pages, what comes live, and text that is still being written. */
import { signal, type Signal } from "@preact/signals";
import type { Items } from "../generated/api";
import type { Item, ItemOf, Preview } from "../feed/model";
import { Timeline, type Entry } from "../feed/timeline";
import { takeHistory } from "./desk";
import { get } from "./http";

/** How much is read at once: enough for a screen, and then no more than can be drawn between two frames or so. */
const FIRST = 160;
const OLDER = 100;

export interface Conversation {
  readonly blocks: Signal<readonly (readonly Entry[])[]>;
  readonly waiting: Signal<readonly ItemOf<"said">[]>;
  readonly previews: Signal<readonly Preview[]>;
  readonly state: Signal<"loading" | "loaded" | "failed">;
  /** Whether there is history before what is here. */
  readonly older: Signal<"none" | "more" | "loading">;
}

interface Kept extends Conversation {
  items: Item[];
  early: Item[];
  timeline: Timeline;
  before: number | null;
}

const kept = new Map<string, Kept>();

/** The conversation of a session; it is read when it is first looked at. */
export function conversation(session: string): Conversation {
  const found = kept.get(session);
  if (found) return found;
  const made: Kept = {
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
  kept.set(session, made);
  void load(session, made);
  return made;
}

async function load(session: string, made: Kept): Promise<void> {
  made.state.value = "loading";
  try {
    const page = await get<Items>(`/api/sessions/${encodeURIComponent(session)}/items?limit=${FIRST}`);
    const items = page.items as unknown as Item[];
    const last = items.at(-1)?.cursor ?? 0;
    made.items = [...items, ...[...made.items, ...made.early].filter((item) => item.cursor > last)];
    made.early = [];
    takeHistory(made.items);
    made.timeline = new Timeline(made.items);
    remember(made, page.next);
    made.state.value = "loaded";
  } catch {
    made.state.value = "failed";
    setTimeout(() => {
      if (kept.get(session) === made) void load(session, made);
    }, 2000);
  }
}

/** One more page of history, put before what is here. */
export async function loadOlder(session: string): Promise<void> {
  const made = kept.get(session);
  if (!made || made.before === null || made.older.value === "loading") return;
  made.older.value = "loading";
  try {
    const page = await get<Items>(`/api/sessions/${encodeURIComponent(session)}/items?limit=${OLDER}&before=${made.before}`);
    const items = page.items as unknown as Item[];
    takeHistory(items);
    made.items = [...items, ...made.items];
    made.timeline = new Timeline(made.items, made.timeline);
    remember(made, page.next);
  } catch {
    made.older.value = "more";
  }
}

function remember(made: Kept, before: number | null): void {
  made.before = before;
  made.older.value = before === null ? "none" : "more";
  publish(made);
}

/** Items that came live. */
export function followTimelines(items: readonly Item[]): void {
  const touched = new Set<Kept>();
  for (const item of items) {
    const made = item.session === null ? undefined : kept.get(item.session);
    if (!made) continue;
    if (made.state.value !== "loaded") made.early.push(item);
    else if (item.cursor > (made.items.at(-1)?.cursor ?? 0)) {
      made.items.push(item);
      made.timeline.add(item);
      endPreview(made, item);
      touched.add(made);
    }
  }
  touched.forEach(publish);
}

/** The place in the feed was lost: what was read may have a gap, and is read again. */
export function forgetTimelines(): void {
  for (const [session, made] of kept) void load(session, made);
}

export function showPreview(preview: Preview): void {
  const made = kept.get(preview.session);
  if (!made) return;
  const others = made.previews.value.filter((each) => !(each.message === preview.message && each.index === preview.index));
  made.previews.value = [...others, preview];
}

/** A block that is stored takes the place of its preview. */
function endPreview(made: Kept, item: Item): void {
  const previews = made.previews.value;
  if (!previews.length) return;
  if (item.type === "turn.ended" || item.type === "session.ended") made.previews.value = [];
  else if (item.type === "text" || item.type === "thinking") {
    made.previews.value = previews.filter((each) => each.message !== item.message || each.kind !== item.type || !item.text.startsWith(each.text));
  } else if (item.type === "action.started") made.previews.value = previews.filter((each) => each.parent !== item.parent);
}

function publish(made: Kept): void {
  made.blocks.value = made.timeline.blocks;
  made.waiting.value = made.timeline.waiting;
}
