/** Keys that go to a card. A card that is off screen is first brought into view, and asks once more. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { current } from "../store/place";

export type Keys = (key: string) => boolean;

/** How long a card that has just slid in ignores clicks and keys. */
export const ARMING = 200;

const cards = new Map<string, Keys>();
/** The card that was brought into view and waits for the same key again. */
export const askedAgain = signal<string | null>(null);

/** Says what keys do while this card is the current one. */
export function useKeys(ask: string, keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const mine: Keys = (key) => latest.current(key);
    cards.set(ask, mine);
    return () => {
      if (cards.get(ask) === mine) cards.delete(ask);
    };
  }, [ask]);
}

/** A function that tells whether the card may be acted on already. */
export function useArmed(): () => boolean {
  const since = useRef(performance.now());
  return () => performance.now() - since.current >= ARMING;
}

/** Escape gives the keys back to the card. */
export function leaveText(event: KeyboardEvent): void {
  if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
}

/** Hands a key to the current card; tells whether it was taken. */
export function press(key: string): boolean {
  const id = current.value;
  const keys = id === null ? undefined : cards.get(id);
  if (id === null || !keys) return false;
  const element = document.getElementById(`card-${id}`);
  if (!element) return false;
  if (!isInView(element)) {
    element.scrollIntoView({ block: "nearest" });
    if (!isInView(element)) element.querySelector(".controls")?.scrollIntoView({ block: "end" });
    askedAgain.value = id;
    return true;
  }
  askedAgain.value = null;
  return keys(key);
}

/** In view is what can be decided upon: the question, or at least the controls. */
function isInView(element: Element): boolean {
  const frame = element.closest(".scrolls")?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  const controls = (element.querySelector(".controls") ?? element).getBoundingClientRect();
  return controls.height > 0 && controls.top >= frame.top - 2 && controls.top + Math.min(controls.height, 48) <= frame.bottom + 2;
}
