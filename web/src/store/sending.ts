/** Answers on their way. One that could not be sent is kept, said to be kept, and sent once when the hub is back. */
import { effect, signal } from "@preact/signals";
import type { Answer, Ask } from "../feed/model";
import { t } from "../texts";
import { known, me, standing, takeAsk } from "./desk";
import { Refused, post } from "./http";
import { dropDraft } from "./drafts";
import { connection, tryNow } from "./stream";

export type Sending =
  | { state: "sending"; answer: Answer }
  /** `why` is what the hub said, if it was reached and could not take it. */
  | { state: "kept"; answer: Answer; why: string | null }
  | { state: "sent"; answer: Answer }
  | { state: "refused"; answer: Answer; message: string };

interface Unsent {
  /** Who gave it: if somebody else logs in here, it is not theirs. */
  by: string | undefined;
  ask: string;
  answer: Answer;
  digest: string;
}

const KEY = "handraise.unsent";
const AGAIN = 4000;

export const sending = signal<ReadonlyMap<string, Sending>>(new Map());

/** What became of an answer: the hub has it, or refused it, or was not reached, so that it is kept. */
export type Outcome = "taken" | "refused" | "kept";

/** The last outcome of each answer that was given here. */
export const outcomes = signal<ReadonlyMap<string, Outcome>>(new Map());

/** Sends an answer. The card changes when the feed says that the ask is settled, and not before. */
export async function answer(ask: Ask, given: Answer): Promise<Outcome> {
  const state = sending.value.get(ask.id)?.state;
  if (state === "sending" || state === "kept") return "kept";
  return deliver({ by: me.peek()?.name, ask: ask.id, answer: given, digest: ask.digest });
}

/** Takes back an answer that was kept and not sent. */
export function takeBack(ask: string): void {
  keep(unsent().filter((each) => each.ask !== ask));
  mark(ask, null);
  became(ask, "refused");
}

export function dismiss(ask: string): void {
  mark(ask, null);
}

/** Whatever was kept is sent when the connection is live again, and once in a while as long as it is. */
export function watchSending(): void {
  effect(() => {
    void me.value;
    showKept();
  });
  effect(() => {
    if (connection.value.state === "live" && standing.value === "in") sendKept();
  });
  setInterval(() => {
    if (connection.peek().state === "live" && standing.peek() === "in") sendKept();
  }, AGAIN);
  effect(() => {
    for (const [id, each] of sending.value) {
      const ask = known.value.asks.get(id);
      if (each.state === "sent" && ask && isSettledFor(ask)) mark(id, null);
    }
  });
}

function sendKept(): void {
  showKept();
  for (const each of ours()) void deliver(each);
}

/** Another window of this browser may have kept one, sent it or taken it back. */
function showKept(): void {
  const kept = new Map(ours().map((each) => [each.ask, each]));
  for (const [id, each] of sending.peek()) if (each.state === "kept" && !kept.has(id)) mark(id, null);
  for (const each of kept.values()) if (!sending.peek().has(each.ask)) mark(each.ask, { state: "kept", answer: each.answer, why: null });
}

/** What was kept by whoever is logged in. */
function ours(): Unsent[] {
  const name = me.peek()?.name;
  return unsent().filter((each) => name === undefined || each.by === undefined || each.by === name);
}

function isSettledFor(ask: Ask): boolean {
  return ask.state !== "open" && !(ask.settlement?.state === "expired" && ask.settlement.late === null);
}

async function deliver(each: Unsent): Promise<Outcome> {
  const { ask, answer: given, digest } = each;
  if (sending.peek().get(ask)?.state === "sending") return "kept";
  mark(ask, { state: "sending", answer: given });
  // Kept before it is sent: a page that is closed in between sends it when it comes back. The same answer twice is one.
  keep([...unsent().filter((other) => other.ask !== ask), each]);
  try {
    await post(`/api/asks/${encodeURIComponent(ask)}/answer`, { answer: given, digest });
    done(ask);
    const now = known.peek().asks.get(ask);
    mark(ask, now && isSettledFor(now) ? null : { state: "sent", answer: given });
    return became(ask, "taken");
  } catch (error) {
    if (error instanceof Refused && error.status !== 401 && error.status !== 429 && error.status < 500) {
      done(ask);
      if (error.ask) takeAsk(error.ask);
      mark(ask, { state: "refused", answer: given, message: explain(error) });
      return became(ask, "refused");
    }
    const busy = error instanceof Refused && error.status !== 401;
    mark(ask, { state: "kept", answer: given, why: busy ? error.message : null });
    // Nobody answered, or not to us: whether the hub is there at all is found out now, and said.
    if (!busy) tryNow();
    return became(ask, "kept");
  }
}

/** What the hub said, and what that means for the answer. */
function explain({ status, message }: Refused): string {
  if (status === 409 || status === 410) return t("page.refused.unused", { message });
  return status === 403 ? t("page.refused.forbidden", { message }) : message;
}

function became(ask: string, outcome: Outcome): Outcome {
  outcomes.value = new Map(outcomes.peek()).set(ask, outcome);
  return outcome;
}

function done(ask: string): void {
  keep(unsent().filter((each) => each.ask !== ask));
  dropDraft(ask);
}

function mark(ask: string, how: Sending | null): void {
  const changed = new Map(sending.peek());
  if (how) changed.set(ask, how);
  else changed.delete(ask);
  sending.value = changed;
}

/** What this browser could not write down, because it is full or forbids it: it lives as long as the page. */
let aside: Unsent[] | null = null;

function unsent(): Unsent[] {
  if (aside) return aside;
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]") as Unsent[];
  } catch {
    return [];
  }
}

function keep(list: Unsent[]): void {
  aside = null;
  try {
    if (list.length) localStorage.setItem(KEY, JSON.stringify(list));
    else localStorage.removeItem(KEY);
  } catch {
    aside = list;
  }
}
