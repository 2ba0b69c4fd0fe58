/** The state of a session in words, and its position in the list. Pure. */
import type { Ask, Session } from "../feed/model";
import { span } from "../text/times";
import { t } from "../texts";
import { NEVER_ASKS } from "./modes";

export type SessionGroup = "needs_you" | "failed" | "working" | "idle" | "ended";
export const GROUPS: readonly SessionGroup[] = ["needs_you", "failed", "working", "idle", "ended"];

/** What failed longer ago than this is history. */
const FRESH = 24 * 3_600_000;

export function groupOf(session: Session, asks: readonly Ask[], now: number): SessionGroup {
  if (session.ended) return isFailed(session) && now - Date.parse(session.ended.at) < FRESH ? "failed" : "ended";
  if (asks.length || session.dialog) return "needs_you";
  return session.phase === "idle" || session.phase === "parking" || session.phase === "parked" ? "idle" : "working";
}

/** One word or a few; always true. */
export function stateOf(session: Session, asks: readonly Ask[], others: Iterable<Session>, now: number): string {
  if (isAlarm(session)) return t("page.sessions.alarm");
  if (session.ended) return t(`card.session.state.${session.ended.how}`);
  if (asks.length || session.dialog) return t("card.session.state.needs_you");
  if (session.stuck_since) return t("page.sessions.stuck", { duration: span(now - Date.parse(session.stuck_since)) });
  if (session.phase === "queued") return queuedBehind(before(session, others));
  const phase = session.phase === "parking" || session.phase === "parked" ? "idle" : session.phase;
  return t(`card.session.state.${phase}`);
}

export function isFailed(session: Session): boolean {
  return session.ended?.how === "failed" || session.ended?.how === "lost";
}

/** Stopped because something bypassed Handraise, and not resumed since. */
export function isAlarm(session: Session): boolean {
  return session.ended?.alarm === true;
}

/** Whether the hub runs it, or would run it next; otherwise a person runs it in a terminal. */
export function isOurs(session: Session): boolean {
  return !session.terminal || session.ended !== null;
}

export function neverAsks(session: Session): boolean {
  return session.mode === NEVER_ASKS && !session.ended;
}

function queuedBehind(count: number): string {
  return count ? t("page.sessions.queued_behind", { count }) : t("page.sessions.queued_next");
}

function before(session: Session, others: Iterable<Session>): number {
  let count = 0;
  for (const each of others) if (each.phase === "queued" && each.machine === session.machine && each.created_at < session.created_at) count += 1;
  return count;
}
