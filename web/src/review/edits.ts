/** The edits of files in a conversation that were carried out, those of sub-agents included: by file, in order. Pure. */
import type { ActionEntry, TimelineEntry } from "../feed/timeline";
import { fileOf } from "../text/paths";

export function editsIn(entries: readonly TimelineEntry[]): ActionEntry[] {
  const byFile = new Map<string, ActionEntry[]>();
  const waiting = [...entries];
  for (let at = 0; at < waiting.length; at += 1) {
    const entry = waiting[at] as TimelineEntry;
    if (entry.kind !== "action") continue;
    waiting.splice(at + 1, 0, ...entry.inside);
    if (!entry.traits.change || entry.ended?.ok !== true || entry.denial) continue;
    const file = fileOf(entry.traits, entry.started.input);
    byFile.set(file, [...(byFile.get(file) ?? []), entry]);
  }
  return [...byFile.values()].flat();
}
