/** One answer for several identical asks: only after each was reviewed, each sent separately, and each outcome counted. */
import { computed, signal } from "@preact/signals";
import type { Answer, Ask } from "../feed/model";
import { known, openAsks } from "./desk";
import { outcomes, sendAnswer, type Delivery } from "./sending";

/** The asks whose card was on the screen, by id and content. */
const looked = signal<ReadonlySet<string>>(new Set());
/** The asks that one answer goes to. Later ones are not included. */
const together = signal<readonly string[]>([]);

export interface BatchOutcome {
  total: number;
  accepted: number;
  queued: number;
}

/** The asks that the last answer to several went to. */
const asked = signal<readonly string[]>([]);

/** The outcome so far. */
export const batch = computed<BatchOutcome | null>(() => {
  if (!asked.value.length) return null;
  const count = (what: Delivery) => asked.value.filter((id) => outcomes.value.get(id) === what).length;
  return { total: asked.value.length, accepted: count("accepted"), queued: count("queued") };
});

export function forgetBatch(): void {
  asked.value = [];
}

export function look(ask: Ask): void {
  const name = nameOf(ask);
  if (!looked.peek().has(name)) looked.value = new Set(looked.peek()).add(name);
}

export function wasLookedAt(ask: Ask): boolean {
  return looked.value.has(nameOf(ask));
}

/** The open asks that an answer to this one also goes to, including itself. Empty: to itself alone. */
export function mates(ask: Ask): Ask[] {
  return pinned.value.some((each) => each.id === ask.id) ? pinned.value : [];
}

const pinned = computed(() => {
  const found = openAsks.value.filter((ask) => together.value.includes(ask.id));
  return found.length > 1 ? found : [];
});

/** Groups them, if each was reviewed; or separates them again. */
export function group(asks: readonly Ask[], wanted: boolean): void {
  together.value = wanted && asks.every(wasLookedAt) ? asks.map((ask) => ask.id) : [];
}

/** The same answer to each, with the digest of what each showed. */
export async function answerAll(asks: readonly Ask[], answer: Answer): Promise<void> {
  together.value = [];
  forgetBatch();
  await Promise.all(asks.map((ask) => sendAnswer(known.peek().asks.get(ask.id) ?? ask, answer)));
  asked.value = asks.map((ask) => ask.id);
}

function nameOf(ask: Ask): string {
  return `${ask.id} ${ask.digest}`;
}
