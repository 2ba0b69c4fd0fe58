/** The filters of a search, and how the hub is asked for them. Pure. */

export const TIMES = ["any", "day", "week", "month", "dates"] as const;

export interface Narrowed {
  readonly time: (typeof TIMES)[number];
  /** Days, as a date field has them; empty: no limit. */
  readonly from: string;
  readonly to: string;
  /** A project's ID, or a directory. */
  readonly project: string;
  readonly state: "" | "running" | "ended";
  /** `people`, `claude`, `tools`, or a person's name. */
  readonly by: string;
}

export const NOT_NARROWED: Narrowed = { time: "any", from: "", to: "", project: "", state: "", by: "" };

const DAY = 24 * 3600 * 1000;
const DAYS = { day: 1, week: 7, month: 30 } as const;

/** As parameters of `/api/search`. Days are those of the person's clock. */
export function parametersOf({ time, from, to, project, state, by }: Narrowed, now: number): Record<string, string> {
  const since = time === "dates" ? startOf(from, 0) : time === "any" ? "" : new Date(now - DAYS[time] * DAY).toISOString();
  const until = time === "dates" ? startOf(to, 1) : "";
  const all = { since, until, project, state, by };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
}

/** When a day starts, or one that many days later. */
function startOf(day: string, later: number): string {
  const found = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(day);
  if (!found) return "";
  const at = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + later);
  return Number.isNaN(at.getTime()) || at.getFullYear() > 9998 ? "" : at.toISOString();
}
