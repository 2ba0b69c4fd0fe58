/**
 * The keys that mean the same on every card. Those of a card's choices come with the card.
 *
 * Part of the table in `model/keys.py`, which says why. Compared with `tests/model/keys.json`.
 */
import type { Weight } from "../intent";

export interface Key {
  act: string;
  letter: string;
  weight: Weight;
}

export const TABLE: readonly Key[] = [
  { act: "next", letter: "j", weight: "refuse" },
  { act: "previous", letter: "k", weight: "refuse" },
  { act: "read", letter: "v", weight: "refuse" },
  { act: "go on unread", letter: "g", weight: "refuse" },
];

/** The act of a letter that every card knows. */
export function keyed(letter: string): string | undefined {
  return TABLE.find((each) => each.letter === letter)?.act;
}
