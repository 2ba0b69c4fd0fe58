/** Where an item stands in a conversation. Pure. */
import type { ActionEntry, TimelineEntry } from "./timeline";

/** `folded`: the item is inside what unfolds. */
export interface EntryPlace {
  readonly key: number;
  readonly folded: boolean;
}

/** The entry that an item became, or is part of. `joined`: whether the line of the action stands for this request. */
export function entryOf(blocks: readonly (readonly TimelineEntry[])[], cursor: number, joined: (ask: string) => boolean): EntryPlace | null {
  for (const entry of blocks.flat()) {
    if (entry.kind === "action" && isPart(entry, cursor)) return { key: entry.key, folded: true };
    if (entry.kind === "ask" && entry.key === cursor && entry.joins && joined(entry.ask)) return actionOf(blocks, entry.ask);
    if (entry.key === cursor || ("item" in entry && entry.item.cursor === cursor)) return { key: entry.key, folded: false };
  }
  return null;
}

function isPart(entry: TimelineEntry, cursor: number): boolean {
  if (entry.kind !== "action") return entry.key === cursor || ("item" in entry && entry.item.cursor === cursor);
  return entry.started.cursor === cursor || entry.ended?.cursor === cursor || entry.inside.some((each) => isPart(each, cursor));
}

function actionOf(blocks: readonly (readonly TimelineEntry[])[], ask: string): EntryPlace | null {
  const found = blocks.flat().find((entry): entry is ActionEntry => entry.kind === "action" && has(entry, ask));
  return found ? { key: found.key, folded: true } : null;
}

function has(entry: TimelineEntry, ask: string): boolean {
  return entry.kind === "action" && (entry.ask === ask || entry.inside.some((each) => has(each, ask)));
}
