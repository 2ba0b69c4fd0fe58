/**
 * What each letter and digit means, on every card.
 *
 * The same table as `model/keys.py`, which says why. Both are compared with `tests/model/keys.json`.
 */
import type { Weight } from "../intent";

export interface Key {
  /** The kind of card that it belongs to. */
  on: "permission" | "plan" | "form" | "question" | "trust" | "any";
  act: string;
  /** Empty where it has none. */
  letter: string;
  digit: number | null;
  weight: Weight;
}

export const TABLE: readonly Key[] = [
  { on: "permission", act: "once", letter: "a", digit: 1, weight: "grant" },
  { on: "permission", act: "session", letter: "s", digit: 2, weight: "grant" },
  { on: "permission", act: "always", letter: "w", digit: 3, weight: "grant" },
  { on: "permission", act: "edit", letter: "e", digit: 4, weight: "refuse" },
  { on: "permission", act: "deny", letter: "d", digit: 5, weight: "refuse" },
  { on: "permission", act: "stop", letter: "x", digit: 6, weight: "refuse" },
  { on: "permission", act: "suggestion", letter: "", digit: 7, weight: "grant" },
  { on: "plan", act: "approve", letter: "a", digit: 1, weight: "grant" },
  { on: "plan", act: "free", letter: "y", digit: 2, weight: "grant" },
  { on: "plan", act: "edit", letter: "e", digit: 4, weight: "refuse" },
  { on: "plan", act: "revise", letter: "d", digit: 5, weight: "refuse" },
  { on: "plan", act: "outline", letter: "p", digit: 6, weight: "refuse" },
  { on: "form", act: "fill", letter: "e", digit: 4, weight: "refuse" },
  { on: "form", act: "decline", letter: "d", digit: 5, weight: "refuse" },
  { on: "form", act: "cancel", letter: "", digit: 6, weight: "refuse" },
  { on: "question", act: "free text", letter: "o", digit: 0, weight: "refuse" },
  { on: "trust", act: "exactly", letter: "", digit: 1, weight: "grant" },
  { on: "trust", act: "without", letter: "d", digit: 5, weight: "refuse" },
  { on: "trust", act: "never", letter: "", digit: 6, weight: "refuse" },
  { on: "any", act: "next", letter: "j", digit: null, weight: "refuse" },
  { on: "any", act: "previous", letter: "k", digit: null, weight: "refuse" },
  { on: "any", act: "read", letter: "v", digit: null, weight: "refuse" },
  { on: "any", act: "go on unread", letter: "g", digit: null, weight: "refuse" },
];

/** What a letter or a digit does on a card of this kind. */
export function keyed(on: Key["on"], pressed: string): Key | undefined {
  return TABLE.find((each) => (each.on === on || each.on === "any") && (each.letter === pressed || String(each.digit) === pressed));
}
