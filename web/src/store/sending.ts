/** Answers on their way. One that could not be sent is saved, shown as not sent, and sent once when the hub is back. */
import { effect, signal } from "@preact/signals";
import type { Answer, Ask } from "../feed/model";
import { t } from "../texts";
import { known, me, standing, takeAsk } from "./desk";
import { dropDraft } from "./drafts";
import { post, Refused } from "./http";
import { connection, tryNow } from "./stream";

export type Sending =
  | { state: "sending"; answer: Answer }
  /** `reason` is the hub's message, if it was reached and had a problem. */
  | { state: "queued"; answer: Answer; reason: string | null }
  | { state: "sent"; answer: Answer }
  | { state: "refused"; answer: Answer; message: string };

/** An answer that the hub has not confirmed. */
interface Unsent {
  /** Who gave it: if someone else signs in here, it is not theirs. */
  by: string | undefined;
  ask: string;
  answer: Answer;
  digest: string;
}

const KEY = "handraise.unsent";
const RETRY_MS = 4000;

export const sending = signal<ReadonlyMap<string, Sending>>(new Map());

/** The outcome of an answer: the hub accepted it, refused it, or was not reached. */
export type Delivery = "accepted" | "refused" | "queued";

/** The outcome of the last answer to each ask. */
export const outcomes = signal<ReadonlyMap<string, Delivery>>(new Map());

/** Sends an answer. The card changes when the feed says that the ask is settled, and not before. */
export async function sendAnswer(ask: Ask, answer: Answer): Promise<Delivery> {
  const state = sending.value.get(ask.id)?.state;
  if (state === "sending" || state === "queued") return "queued";
  return deliver({ by: me.peek()?.name, ask: ask.id, answer, digest: ask.digest });
}

/** Drops an answer that was not sent. */
export function discard(ask: string): void {
  save(unsent().filter((each) => each.ask !== ask));
  mark(ask, null);
  record(ask, "refused");
}

export function dismiss(ask: string): void {
  mark(ask, null);
}

/** Queued answers are sent when the connection is live again, and retried once in a while. */
export function watchSending(): void {
  effect(() => {
    void me.value;
    showQueued();
  });
  effect(() => {
    if (connection.value.state === "live" && standing.value === "in") sendQueued();
  });
  setInterval(() => {
    if (connection.peek().state === "live" && standing.peek() === "in") sendQueued();
  }, RETRY_MS);
  effect(() => {
    for (const [id, each] of sending.value) {
      const ask = known.value.asks.get(id);
      if (each.state === "sent" && ask && isSettledFor(ask)) mark(id, null);
    }
  });
}

function sendQueued(): void {
  showQueued();
  for (const each of ours()) void deliver(each);
}

/** Another window of this browser may have queued one, sent it or dropped it. */
function showQueued(): void {
  const queued = new Map(ours().map((each) => [each.ask, each]));
  for (const [id, each] of sending.peek()) if (each.state === "queued" && !queued.has(id)) mark(id, null);
  for (const each of queued.values()) if (!sending.peek().has(each.ask)) mark(each.ask, { state: "queued", answer: each.answer, reason: null });
}

/** What the signed-in person has not sent yet. */
function ours(): Unsent[] {
  const name = me.peek()?.name;
  return unsent().filter((each) => name === undefined || each.by === undefined || each.by === name);
}

function isSettledFor(ask: Ask): boolean {
  return ask.state !== "open" && !(ask.settlement?.state === "expired" && ask.settlement.late === null);
}

async function deliver(each: Unsent): Promise<Delivery> {
  const { ask, answer, digest } = each;
  if (sending.peek().get(ask)?.state === "sending") return "queued";
  mark(ask, { state: "sending", answer });
  // Saved before it is sent: a page that is closed in between sends it when it comes back. The same answer twice counts once.
  save([...unsent().filter((other) => other.ask !== ask), each]);
  try {
    await post(`/api/asks/${encodeURIComponent(ask)}/answer?texts=excerpt`, { answer, digest });
    drop(ask);
    const now = known.peek().asks.get(ask);
    mark(ask, now && isSettledFor(now) ? null : { state: "sent", answer });
    return record(ask, "accepted");
  } catch (error) {
    return fail(each, error);
  }
}

/** The hub refused it for good, or it is retried later. */
function fail({ ask, answer }: Unsent, error: unknown): Delivery {
  if (error instanceof Refused && error.status !== 401 && error.status !== 429 && error.status < 500) {
    drop(ask);
    if (error.ask) takeAsk(error.ask);
    mark(ask, { state: "refused", answer, message: explain(error) });
    return record(ask, "refused");
  }
  const busy = error instanceof Refused && error.status !== 401;
  mark(ask, { state: "queued", answer, reason: busy ? error.message : null });
  // No answer, or not to us: check now whether the hub is there at all, and show it.
  if (!busy) tryNow();
  return record(ask, "queued");
}

/** The hub's message, and what it means for the answer. */
function explain({ status, message }: Refused): string {
  if (status === 409 || status === 410) return t("page.refused.unused", { message });
  return status === 403 ? t("page.refused.forbidden", { message }) : message;
}

function record(ask: string, delivery: Delivery): Delivery {
  outcomes.value = new Map(outcomes.peek()).set(ask, delivery);
  return delivery;
}

function drop(ask: string): void {
  save(unsent().filter((each) => each.ask !== ask));
  dropDraft(ask);
}

function mark(ask: string, how: Sending | null): void {
  const changed = new Map(sending.peek());
  if (how) changed.set(ask, how);
  else changed.delete(ask);
  sending.value = changed;
}

/** What this browser could not store, because it is full or forbids it: it lives as long as the page. */
let unsaved: Unsent[] | null = null;

function unsent(): Unsent[] {
  if (unsaved) return unsaved;
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]") as Unsent[];
  } catch {
    return [];
  }
}

function save(list: Unsent[]): void {
  unsaved = null;
  try {
    if (list.length) localStorage.setItem(KEY, JSON.stringify(list));
    else localStorage.removeItem(KEY);
  } catch {
    unsaved = list;
  }
}
