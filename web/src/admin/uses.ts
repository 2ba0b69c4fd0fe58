/** How often rules answered recently. Pure. */
import type { Ask } from "../feed/model";

export interface Use {
  count: number;
  last: string;
}

/** By rule id; `asks` come newest first. A command of several parts may be answered by several rules. */
export function usesOf(asks: readonly Ask[]): Map<string, Use> {
  const uses = new Map<string, Use>();
  for (const { settlement } of asks) {
    if (settlement?.state !== "answered" || settlement.by.kind !== "rule") continue;
    for (const id of settlement.by.rule.split(", ")) {
      const before = uses.get(id);
      uses.set(id, { count: (before?.count ?? 0) + 1, last: before?.last ?? settlement.at });
    }
  }
  return uses;
}
