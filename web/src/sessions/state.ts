/** What a person would say of a session, in words; and where it stands in the list. Pure. */
import type { Ask, Session } from "../feed/model";
import { span } from "../text/times";
import { texts as t } from "../texts";
import { NEVER_ASKS } from "./modes";

export type Group = "needs you" | "failed" | "working" | "idle" | "ended";
export const GROUPS: readonly Group[] = ["needs you", "failed", "working", "idle", "ended"];

/** What failed longer ago than this is history. */
const FRESH = 24 * 3_600_000;

export function groupOf(session: Session, asks: readonly Ask[], now: number): Group {
  if (session.ended) return isFailed(session) && now - Date.parse(session.ended.at) < FRESH ? "failed" : "ended";
  if (asks.length) return "needs you";
  return session.phase === "idle" || session.phase === "parking" || session.phase === "parked" ? "idle" : "working";
}

/** One word or a few; a row never lies. */
export function stateOf(session: Session, asks: readonly Ask[], others: Iterable<Session>, now: number): string {
  if (isAlarm(session)) return t.sessions.alarm;
  if (session.ended) return t.sessions.endings[session.ended.how];
  if (asks.length) return t.sessions.states["needs you"];
  if (session.stuck_since) return t.sessions.stuck(span(now - Date.parse(session.stuck_since)));
  if (session.phase === "queued") return t.sessions.queuedBehind(before(session, others));
  return t.sessions.states[session.phase];
}

export function isFailed(session: Session): boolean {
  return session.ended?.how === "failed" || session.ended?.how === "lost";
}

/** Stopped since something went around Handraise, and nobody has resumed it. */
export function isAlarm(session: Session): boolean {
  return session.ended?.alarm === true;
}

export function neverAsks(session: Session): boolean {
  return session.mode === NEVER_ASKS && !session.ended;
}

function before(session: Session, others: Iterable<Session>): number {
  let count = 0;
  for (const each of others) if (each.phase === "queued" && each.created_at < session.created_at) count += 1;
  return count;
}
