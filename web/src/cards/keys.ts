/** Keys that go to a card. A card that is out of sight is first brought into view. */
import { useEffect, useRef } from "preact/hooks";
import { handOf } from "../hands/all";
import { current } from "../store/place";

/** What each key does. A key that does nothing now is left out, or false. */
export type Keys = Readonly<Record<string, (() => void) | false | undefined>>;

const cards = new Map<string, () => Keys>();

/** Says what keys do while this card is the current one. */
export function useKeys(ask: string, keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const mine = () => latest.current;
    cards.set(ask, mine);
    return () => {
      if (cards.get(ask) === mine) cards.delete(ask);
    };
  }, [ask]);
}

/** Escape gives the keys back to the card. */
export function leaveText(event: KeyboardEvent): void {
  if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
}

/** Hands a key to the current card; says whether the card knows it. */
export function press(key: string): boolean {
  const id = current.value;
  const does = id === null ? undefined : cards.get(id)?.()[key];
  const hand = id === null ? undefined : handOf(id);
  if (!does || !hand) return false;
  if (hand.takesKey(key)) does();
  return true;
}
