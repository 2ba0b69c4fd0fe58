/**
 * Whether an act was meant for this very card. Pure; never looks at a clock.
 *
 * The same rule as `model/intent.py`, which says why. Both pass the cases in `tests/model/intent.json`.
 */

export type Surface = "terminal" | "page" | "push" | "telegram";
/** What an act does: refuses, postpones or only opens something; answers a question; allows something. */
export type Weight = "refuse" | "answer" | "grant";
export type Verdict = "meant" | "repeated" | "moved" | "busy" | "unseen";

export interface Act {
  weight: Weight;
  at: number;
  /** A held key, the second click of two, a paste. */
  repeated?: boolean;
  /** A single letter without Enter: it could be the start of a word. */
  letter?: boolean;
}

/** One person's attention to one card. Times in milliseconds. */
export interface Attention {
  readonly surface: Surface;
  readonly stillSince: number;
  readonly quietSince: number;
  readonly scrolledAt: number | null;
  readonly seen: boolean;
  /** The person saw that there is more, and chose to continue without it. */
  readonly goingOn: boolean;
}

/** How long a card stands still, and the person types and clicks nothing, before an act counts. */
export const CALM: Record<Surface, number> = { terminal: 1000, page: 700, push: 1000, telegram: 1500 };
/** After the person's own scrolling: the card moved because they moved it. */
export const SETTLED = 250;
/** Between two letters of a sentence being typed. */
export const BURST = 400;

/** A card that has just appeared. `touchedAt`: when the person last typed or clicked anything. */
export function attend(surface: Surface, at: number, touchedAt: number | null = null): Attention {
  return { surface, stillSince: at, quietSince: touchedAt ?? at, scrolledAt: null, seen: false, goingOn: false };
}

/** It appeared or moved by itself. */
export const move = (card: Attention, at: number): Attention => ({ ...card, stillSince: at });
/** It shows something else: what was seen before does not count. */
export const change = (card: Attention, at: number): Attention => ({ ...card, stillSince: at, seen: false, goingOn: false });
/** The person opened its next step: it shows something else, where they are already looking. */
export const turn = (card: Attention, at: number): Attention => ({ ...card, scrolledAt: at, seen: false, goingOn: false });
/** The person typed or clicked, and not to act on this card. */
export const touch = (card: Attention, at: number): Attention => ({ ...card, quietSince: at });
/** The person scrolled it. */
export const scroll = (card: Attention, at: number): Attention => ({ ...card, scrolledAt: at });
/** All of the evidence has been on the screen, its end included. */
export const see = (card: Attention): Attention => ({ ...card, seen: true });
/** The person knows that there is more, and continues. */
export const goOn = (card: Attention): Attention => ({ ...card, goingOn: true });

/** When an act will count, if nothing happens until then. */
export function calmAt(card: Attention): number {
  const calm = Math.max(card.stillSince, card.quietSince) + CALM[card.surface];
  return card.scrolledAt === null ? calm : Math.max(calm, card.scrolledAt + SETTLED);
}

/** When an act is carried out, if still meant then: another letter would show that this one began a word. */
export const dueAt = (act: Act): number => (act.letter && act.weight === "grant" ? act.at + BURST : act.at);

/** Whether two letters in a row are typing rather than two choices. */
export const isTyping = (before: number | null, at: number): boolean => before !== null && at - before < BURST;

/** Whether this act was meant for this card. What is held back is judged again when it is due. */
export function judge(card: Attention, act: Act): Verdict {
  if (act.repeated) return "repeated";
  if (act.weight === "refuse") return "meant";
  if (act.at < calmAt(card)) return card.quietSince > card.stillSince ? "busy" : "moved";
  if (act.weight === "grant" && !card.seen && !card.goingOn) return "unseen";
  return "meant";
}
