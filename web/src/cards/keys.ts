/** Keys that go to a card. A card that is out of sight is first brought into view. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Ask, CardChoice } from "../feed/model";
import { handOf } from "../hands/all";
import { current } from "../store/place";
import { keyed } from "./table";

/** What can be done on this card now, by choice or by key. The rest is left out, or false. */
export type Acts = Readonly<Record<string, (() => void) | false | undefined>>;

interface CardKeys {
  choices: readonly CardChoice[];
  acts: Acts;
  /** Keys that belong to no choice: the options of a question, by their numbers. */
  more: Acts;
}

const cards = new Map<string, () => CardKeys>();

/** Sets what keys do while this card is the current one. */
export function useKeys(ask: Ask, acts: Acts, more: Acts = {}): void {
  const latest = useRef<CardKeys>({ choices: [], acts, more });
  latest.current = { choices: ask.card.choices, acts, more };
  useLayoutEffect(() => {
    const mine = () => latest.current;
    cards.set(ask.id, mine);
    return () => {
      if (cards.get(ask.id) === mine) cards.delete(ask.id);
    };
  }, [ask.id]);
}

/** Escape returns the keys to the card. */
export function leaveText(event: KeyboardEvent): void {
  if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
}

/** Passes a key to the current card; returns whether the card knows it. */
export function press(key: string): boolean {
  const id = current.value;
  const [keys, hand] = id === null ? [] : [cards.get(id)?.(), handOf(id)];
  if (!keys || !hand) return false;
  if (keyed(key) === "read" && hand.unread.value) {
    hand.toUnread();
    return true;
  }
  const choice = keys.choices.find((each) => each.key === key || String(each.digit) === key);
  const does = keys.more[key] ?? (choice && keys.acts[choice.act]);
  if (!does) return false;
  if (hand.takesKey(choice?.key || key)) does();
  return true;
}
