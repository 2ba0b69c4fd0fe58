/** Identical asks are grouped in the inbox. Pure. */
import type { Ask } from "../feed/model";

export interface Same {
  key: string;
  /** Oldest first. */
  asks: Ask[];
}

/** In the order of the oldest of each. */
export function sameOf(asks: readonly Ask[]): Same[] {
  const found = new Map<string, Same>();
  for (const ask of asks) {
    const key = keyOf(ask);
    const same = found.get(key);
    if (same) same.asks.push(ask);
    else found.set(key, { key, asks: [ask] });
  }
  return [...found.values()];
}

const keys = new WeakMap<object, string>();

/** What a person would be shown. What could be allowed for longer differs between sessions, and is left out. */
function keyOf(ask: Ask): string {
  let key = keys.get(ask.body);
  if (key === undefined) {
    key = stable([ask.kind, ask.tool, matterOf(ask)]);
    keys.set(ask.body, key);
  }
  return key;
}

function matterOf(ask: Ask): unknown {
  if (ask.kind !== "permission") return ask.body;
  // Excerpts may be the same where the texts aren't.
  if (ask.cut) return ask.digest;
  const { input, description, blocked_path, diff, diff_note } = ask.body;
  return { input, description, blocked_path, diff, diff_note };
}

/** JSON without regard to the order of keys. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}
