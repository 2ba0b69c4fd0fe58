/** All cards on the page: each learns what the person does and is checked whenever something was painted. Costs nothing while nothing happens. */
import { effect } from "@preact/signals";
import { current } from "../store/place";
import type { Hand } from "./Hand";
import { watchInput } from "./input";
import { watchPresses } from "./press";

const hands = new Set<Hand>();
let soon = false;

export function handOf(id: string): Hand | undefined {
  for (const hand of hands) if (hand.id === id) return hand;
  return undefined;
}

/** Returns a function that ends it. */
export function enter(hand: Hand): () => void {
  hands.add(hand);
  if (current.peek() === hand.id) hand.takeKeys(performance.now());
  sizes.observe(hand.root);
  const frame = hand.root.closest(".scrolls");
  if (frame) sizes.observe(frame);
  sampleSoon();
  return () => {
    hands.delete(hand);
    sizes.unobserve(hand.root);
    hand.leave();
  };
}

/** A key that the current card did not use. */
export function touchCurrent(at: number): void {
  const id = current.peek();
  if (id !== null) handOf(id)?.touch(at);
}

/** Checks each card once the next frame has been painted. */
export function sampleSoon(): void {
  if (soon || hands.size === 0) return;
  soon = true;
  requestAnimationFrame(() =>
    setTimeout(() => {
      soon = false;
      for (const hand of hands) hand.sample();
    }),
  );
}

const sizes = new ResizeObserver(sampleSoon);

export function watchHands(): void {
  watchInput(touchOthers);
  watchPresses();
  new MutationObserver(sampleSoon).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "style", "open", "hidden"] });
  for (const name of ["scroll", "pointermove", "transitionend", "animationend", "load", "resize"]) addEventListener(name, sampleSoon, { capture: true, passive: true });
  visualViewport?.addEventListener("resize", sampleSoon);
  visualViewport?.addEventListener("scroll", sampleSoon);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    for (const hand of hands) hand.move(performance.now());
    sampleSoon();
  });
  effect(() => {
    const id = current.value;
    if (id !== null) handOf(id)?.takeKeys(performance.now());
  });
}

/** A press inside a card belongs to that card; a letter outside text fields belongs to the current one. For all others it is a touch. */
function touchOthers(at: number, event: Event): void {
  const target = event.target instanceof Element ? event.target : null;
  const own = target && isOwn(event, target) ? target : null;
  const letters = event.type === "keydown" && !own && !isText(target) ? current.peek() : null;
  for (const hand of hands) {
    if (event.type === "pointerdown") hand.sample();
    if (hand.id !== letters && !(own && hand.root.contains(own))) hand.touch(at);
  }
}

/** Pressing a control of a card, or filling in its answer, isn't a touch for that card. Writing a reason is. */
function isOwn(event: Event, target: Element): boolean {
  if (isText(target)) return target.closest("[data-fills]") !== null;
  if (event.type === "keydown") return target.closest("[data-own] :is(button, summary, input)") !== null && ["Enter", " "].includes((event as KeyboardEvent).key);
  return target.closest("[data-own]") !== null;
}

/** Whether keys write text into it. */
export function isText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
