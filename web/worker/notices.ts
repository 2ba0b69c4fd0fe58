/** What the hub pushes to this device, and how the outcome of an answer is shown. Pure; the hub's `surfaces/push/notices.py` writes it. */
import { attend, judge, see, type Weight } from "../src/intent";
import { t } from "./texts";

/** An answer on a button; `done` is its label once given. An older hub doesn't say what it does. */
export interface Offered {
  name: string;
  title: string;
  done: string;
  answer: unknown;
  weight?: Weight;
}

export interface AskNotice {
  kind: "ask";
  device: string;
  ask: string;
  digest: string;
  title: string;
  body: string;
  path: string;
  waiting: number;
  answers: Offered[];
}

export type Notice =
  | AskNotice
  | { kind: "settled"; device: string; ask: string; title: string; body: string; waiting: number }
  | { kind: "ended"; device: string; session: string; title: string; body: string; path: string }
  | { kind: "trial"; device: string; title: string; body: string; path: string };

/** What stays on the screen after an answer. `settled`: no answer is needed any more. */
export interface Truth {
  title: string;
  body: string;
  settled: boolean;
}

const KINDS = ["ask", "settled", "ended", "trial"];

/** Nothing for unknown kinds from a newer hub. */
export function readNotice(data: unknown): Notice | null {
  return typeof data === "object" && data !== null && KINDS.includes((data as Notice).kind) ? (data as Notice) : null;
}

/** Whether a tap was meant for what is shown, not for what was there a moment ago. A notice of an older worker has no time. */
export function isMeant(offered: Offered, shownAt: unknown, at: number): boolean {
  const card = see(attend("push", typeof shownAt === "number" ? shownAt : at));
  return judge(card, { weight: offered.weight ?? "grant", at }) === "meant";
}

/** What the hub replied to an answer; `reply` is its body, if there was one. */
export function truth(notice: AskNotice, offered: Offered, status: number, reply: unknown): Truth {
  const message = messageOf(reply);
  const body = notice.title;
  switch (status) {
    case 200:
      return { title: isDelivered(reply) ? t("worker.delivered", { done: offered.done }) : t("worker.undelivered", { done: offered.done }), body, settled: true };
    case 202:
      return { title: t("worker.late", { done: offered.done }), body, settled: true };
    case 409:
      return isSettled(reply)
        ? { title: t("worker.already_answered"), body: t("worker.not_used", { message }), settled: true }
        : { title: t("worker.not_answered"), body: t("worker.review", { message }), settled: false };
    case 410:
      return { title: t("worker.no_longer_needed"), body: t("worker.not_used", { message }), settled: true };
    case 401:
      return { title: t("worker.not_sent"), body: t("worker.signed_out"), settled: false };
    case 403:
    case 422:
      return { title: t("worker.not_answered"), body: t("worker.review", { message }), settled: false };
    default:
      return { title: t("worker.unconfirmed"), body: t("worker.unconfirmed_hint"), settled: false };
  }
}

/** Whether Claude has confirmed the answer. */
export function isDelivered(reply: unknown): boolean {
  return typeof (reply as { delivered_at?: unknown } | null)?.delivered_at === "string";
}

function isSettled(reply: unknown): boolean {
  return Boolean((reply as { error?: { settlement?: unknown } } | null)?.error?.settlement);
}

function messageOf(reply: unknown): string {
  const message = (reply as { error?: { message?: unknown } } | null)?.error?.message;
  return typeof message === "string" ? message : "";
}
