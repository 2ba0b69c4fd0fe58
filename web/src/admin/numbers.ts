/** The statistics: asks per day, time to answer, how long Claude waited, the share of rules. Pure. */
import type { Ask } from "../feed/model";
import { span as duration } from "../text/times";
import { t } from "../texts";
import "./texts";

export interface Day {
  day: string;
  people: number;
  rules: number;
  /** How long Claude waited for people, in milliseconds. */
  waited: number;
}

export interface Numbers {
  asks: number;
  byRule: number;
  days: Day[];
  /** In milliseconds. */
  median: number | null;
  slow: number | null;
  waited: number;
  /** How many were answered within these times. */
  buckets: { label: string; count: number }[];
}

const DAY = 86_400_000;
const BUCKETS = [10e3, 30e3, 120e3, 600e3, 3600e3, Infinity];

/** The last days, in words. */
export function periodOf(days: number): string {
  if (days === 0) return t("admin.period.any");
  return days === 1 ? t("admin.period.day") : t("admin.period.days", { count: days });
}

/** Of the asks opened in the last days. */
export function count(asks: readonly Ask[], now: number, span = 14): Numbers {
  const days = Array.from({ length: span }, (_, at): Day => ({ day: dayOf(now - (span - 1 - at) * DAY), people: 0, rules: 0, waited: 0 }));
  const byDay = new Map(days.map((day) => [day.day, day]));
  const times: number[] = [];
  for (const ask of asks) {
    const day = byDay.get(dayOf(Date.parse(ask.opened_at)));
    if (!day) continue;
    const { settlement } = ask;
    if (settlement?.state === "answered" && settlement.by.kind === "rule") {
      day.rules += 1;
      continue;
    }
    const took = Math.max(0, (settlement ? Date.parse(settlement.at) : now) - Date.parse(ask.opened_at));
    day.people += 1;
    day.waited += took;
    if (settlement?.state === "answered") times.push(took);
  }
  times.sort((a, b) => a - b);
  let below = 0;
  const buckets = BUCKETS.map((most) => {
    const upTo = times.filter((time) => time <= most).length;
    const inside = upTo - below;
    below = upTo;
    return { label: most === Infinity ? t("admin.statistics.longer") : duration(most), count: inside };
  });
  const byRule = sum(days, (day) => day.rules);
  return { asks: byRule + sum(days, (day) => day.people), byRule, days, median: at(times, 0.5), slow: at(times, 0.9), waited: sum(days, (day) => day.waited), buckets };
}

function sum(days: readonly Day[], of: (day: Day) => number): number {
  return days.reduce((total, day) => total + of(day), 0);
}

function at(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

function dayOf(time: number): string {
  const date = new Date(time);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
}
