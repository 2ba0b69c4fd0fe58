/** Which sessions to show, and in which order. Pure. */
import type { Session } from "../feed/model";

export interface Filters {
  words: string;
  directory: string;
  /** A machine's ID; empty for any. */
  machine: string;
  /** At least this many dollars. */
  cost: number;
  /** Changed within this many hours; 0 for any time. */
  hours: number;
  order: Order;
}

export type Order = "recent" | "cost" | "age";

export const NO_FILTERS: Filters = { words: "", directory: "", machine: "", cost: 0, hours: 0, order: "recent" };
export const COSTS = [0, 0.1, 1, 10];
export const HOURS = [0, 1, 24, 24 * 7];
export const ORDERS: Order[] = ["recent", "cost", "age"];

/** How many are set, besides the search text. */
export function countSet({ directory, machine, cost, hours, order }: Filters): number {
  return [directory !== "", machine !== "", cost > 0, hours > 0, order !== "recent"].filter(Boolean).length;
}

/** `says` is the row's text besides its title. */
export function fits(session: Session, filters: Filters, says: string, now: number): boolean {
  if (filters.directory && session.directory !== filters.directory) return false;
  if (filters.machine && session.machine !== filters.machine) return false;
  if (session.cost_usd < filters.cost) return false;
  if (filters.hours && now - Date.parse(session.changed_at) > filters.hours * 3_600_000) return false;
  const text = `${session.title} ${session.directory} ${session.id} ${says}`.toLowerCase();
  return filters.words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function compare(a: Session, b: Session, order: Order): number {
  if (order === "cost" && a.cost_usd !== b.cost_usd) return b.cost_usd - a.cost_usd;
  if (order === "age") return a.created_at < b.created_at ? -1 : 1;
  return a.changed_at > b.changed_at ? -1 : 1;
}
