/** Keys that go to a card. A card that is out of sight is first brought into view. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { handOf } from "../hands/all";
import { current } from "../store/place";
import { keyed, type Key } from "./table";

/** What is done on this card, by the names in the table of keys. What cannot be done now is left out, or false. */
export type Acts = Readonly<Record<string, (() => void) | false | undefined>>;

interface Keys {
  kind: Key["on"];
  acts: Acts;
  /** Keys beyond the table: the options of a question, by their numbers. */
  more: Acts;
}

const cards = new Map<string, () => Keys>();

/** Says what keys do while this card is the current one. */
export function useKeys(ask: { id: string; kind: Key["on"] }, acts: Acts, more: Acts = {}): void {
  const latest = useRef<Keys>({ kind: ask.kind, acts, more });
  latest.current = { kind: ask.kind, acts, more };
  useLayoutEffect(() => {
    const mine = () => latest.current;
    cards.set(ask.id, mine);
    return () => {
      if (cards.get(ask.id) === mine) cards.delete(ask.id);
    };
  }, [ask.id]);
}

/** Escape gives the keys back to the card. */
export function leaveText(event: KeyboardEvent): void {
  if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
}

/** Hands a key to the current card; says whether the card knows it. */
export function press(key: string): boolean {
  const id = current.value;
  const [keys, hand] = id === null ? [] : [cards.get(id)?.(), handOf(id)];
  if (!keys || !hand) return false;
  const known = keyed(keys.kind, key);
  const does = keys.more[key] ?? (known && keys.acts[known.act]);
  if (known?.act === "read" && hand.unread.value) {
    hand.toUnread();
    return true;
  }
  if (!does) return false;
  if (hand.takesKey(known?.letter || key)) does();
  return true;
}
