/** The card that a person is writing in: if its time runs out meanwhile, it stays where it is, and is answered late. */
import { signal } from "@preact/signals";
import type { Ask } from "../feed/model";
import { askOf } from "./desk";

const held = signal<string | null>(null);

/** The focus is inside of this open card. */
export function hold(ask: string): void {
  held.value = ask;
}

/** The focus left the card. While another window has it, the person comes back. */
export function release(ask: string, event: FocusEvent): void {
  const card = event.currentTarget as Node;
  if (held.peek() !== ask || !document.hasFocus() || (event.relatedTarget instanceof Node && card.contains(event.relatedTarget))) return;
  // After the click that took the focus: nothing may move under it.
  setTimeout(() => {
    if (held.peek() === ask && !card.contains(document.activeElement)) held.value = null;
  }, 300);
}

/** The ask that stays although its time ran out, or none. */
export function heldAsk(): Ask | undefined {
  const ask = held.value === null ? undefined : askOf(held.value);
  return ask?.settlement?.state === "expired" && ask.settlement.late === null ? ask : undefined;
}

/** Whether this card was being written in. */
export function isHeld(ask: string): boolean {
  return held.peek() === ask;
}

/** The asks with the one that stays, in its place. */
export function withHeld(asks: readonly Ask[]): readonly Ask[] {
  const ask = heldAsk();
  if (!ask || asks.some((each) => each.id === ask.id)) return asks;
  return [...asks, ask].sort((a, b) => (a.opened_at < b.opened_at ? -1 : a.opened_at > b.opened_at ? 1 : a.id < b.id ? -1 : 1));
}
