/** How long something is muted. Pure, but for the words. */
import { moment } from "../../text/times";
import { t } from "../../texts";
import "./texts";

export const SPANS = ["hour", "tomorrow", "open"] as const;
export type MuteSpan = (typeof SPANS)[number];

const HOUR = 3_600_000;
/** Tomorrow begins at this hour. */
const MORNING = 8;

/** When it ends; null: when someone ends it. */
export function endOf(span: MuteSpan, now: Date): Date | null {
  if (span === "open") return null;
  if (span === "hour") return new Date(now.getTime() + HOUR);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING);
}

export function spanName(span: MuteSpan): string {
  const morning = endOf("tomorrow", new Date()) ?? new Date();
  // Only the hour: the day is in the words.
  return span === "tomorrow" ? t("notifications.mutes.tomorrow", { time: moment(morning.toISOString(), morning) }) : t(`notifications.mutes.${span}`);
}

export function muteBody(span: MuteSpan, now: Date): { until: string | null } {
  return { until: endOf(span, now)?.toISOString() ?? null };
}
