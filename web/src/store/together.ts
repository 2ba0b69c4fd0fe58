/** One answer for several identical asks: only after each was looked at, each sent by itself, and told what became of it. */
import { computed, signal } from "@preact/signals";
import type { Answer, Ask } from "../feed/model";
import { known, openAsks } from "./desk";
import { answer, outcomes, type Outcome } from "./sending";

/** The asks whose card was on the screen, by their id and what it showed. */
const looked = signal<ReadonlySet<string>>(new Set());
/** Those that are to be answered together. Whoever comes later is none of them. */
const together = signal<readonly string[]>([]);

export interface Told {
  asked: number;
  taken: number;
  kept: number;
}

/** Those that the last answer to several was given to. */
const asked = signal<readonly string[]>([]);

/** What became of it, up to now. */
export const told = computed<Told | null>(() => {
  if (!asked.value.length) return null;
  const count = (what: Outcome) => asked.value.filter((id) => outcomes.value.get(id) === what).length;
  return { asked: asked.value.length, taken: count("taken"), kept: count("kept") };
});

export function forgetTold(): void {
  asked.value = [];
}

export function look(ask: Ask): void {
  const name = nameOf(ask);
  if (!looked.peek().has(name)) looked.value = new Set(looked.peek()).add(name);
}

export function wasLookedAt(ask: Ask): boolean {
  return looked.value.has(nameOf(ask));
}

/** The open asks that an answer to this one is given to as well, itself among them. Empty: to itself alone. */
export function mates(ask: Ask): Ask[] {
  return pinned.value.some((each) => each.id === ask.id) ? pinned.value : [];
}

const pinned = computed(() => {
  const found = openAsks.value.filter((ask) => together.value.includes(ask.id));
  return found.length > 1 ? found : [];
});

/** Takes them together, if each was looked at; or apart again. */
export function take(asks: readonly Ask[], wanted: boolean): void {
  together.value = wanted && asks.every(wasLookedAt) ? asks.map((ask) => ask.id) : [];
}

/** The same answer to each, with the digest of what each showed. */
export async function answerAll(asks: readonly Ask[], given: Answer): Promise<void> {
  together.value = [];
  forgetTold();
  await Promise.all(asks.map((ask) => answer(known.peek().asks.get(ask.id) ?? ask, given)));
  asked.value = asks.map((ask) => ask.id);
}

function nameOf(ask: Ask): string {
  return `${ask.id} ${ask.digest}`;
}
