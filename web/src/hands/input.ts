/** What the person did last: which press an act belongs to, when they last typed or clicked, and whether they scroll. */

/** What caused the current act. */
export interface Occasion {
  /** When it was pressed, by the event's own clock: late handling doesn't make it newer. */
  at: number;
  repeated: boolean;
  letter: boolean;
}

/** Milliseconds for which scrolling continues after a wheel or a key; and after a finger. */
const GLIDES = 400;
const FLUNG = 1500;
const SCROLL_KEYS = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "];

let last: Occasion & { key: string } = { at: 0, repeated: false, letter: false, key: "" };
let down: { at: number; control: Element | null } | null = null;
let touched: number | null = null;
let scrolls = -Infinity;

export const occasion = (): Occasion => last;
export const touchedAt = (): number | null => touched;
export const isScrolling = (): boolean => performance.now() < scrolls;

/** The person scrolls, by any means. */
export function noteScroll(at: number, glides = GLIDES): void {
  scrolls = Math.max(scrolls, at + glides);
}

/** Whether this key writes or sends something, wherever it goes. Navigation isn't a touch. */
export function isTouch(event: KeyboardEvent): boolean {
  if (event.getModifierState("AltGraph")) return event.key.length === 1;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  return event.isComposing || [...event.key].length === 1 || ["Enter", "Backspace", "Delete", "Process", "Dead", "Unidentified"].includes(event.key);
}

/** Handles every event first. `touch` is called for what was typed and pressed, with its target. */
export function watchInput(touch: (at: number, event: Event) => void): void {
  const hear = (event: Event) => {
    touched = event.timeStamp;
    touch(event.timeStamp, event);
  };
  addEventListener(
    "pointerdown",
    (event) => {
      down = { at: event.timeStamp, control: controlOf(event.target) };
      hear(event);
      if (event.target instanceof Element && isScrollbar(event, event.target)) noteScroll(event.timeStamp, 60_000);
    },
    true,
  );
  addEventListener("pointerup", () => (scrolls = Math.min(scrolls, performance.now() + GLIDES)), true);
  addEventListener("click", (event) => (last = { ...occasionOf(event), letter: false, key: "" }), true);
  addEventListener(
    "keydown",
    (event) => {
      const letter = [...event.key].length === 1 && event.key !== " ";
      last = { at: event.timeStamp, repeated: event.repeat, letter: letter && !event.ctrlKey && !event.metaKey, key: event.key };
      if (isTouch(event)) hear(event);
      if (SCROLL_KEYS.includes(event.key)) noteScroll(event.timeStamp);
    },
    true,
  );
  addEventListener("paste", hear, true);
  addEventListener("wheel", (event) => noteScroll(event.timeStamp), { capture: true, passive: true });
  addEventListener("touchmove", (event) => noteScroll(event.timeStamp, FLUNG), { capture: true, passive: true });
}

/** A click counts from when the button went down, if that was on the same control; a click without a press counts from now. */
function occasionOf(event: MouseEvent): { at: number; repeated: boolean } {
  if (event.detail === 0) return { at: event.timeStamp, repeated: last.key === "Enter" && last.repeated && event.timeStamp - last.at < 50 };
  const same = down !== null && down.control !== null && down.control === controlOf(event.target);
  return { at: same && down ? down.at : -Infinity, repeated: event.detail > 1 };
}

function controlOf(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest("button, a, input, select, textarea, label, summary") : null;
}

function isScrollbar(event: PointerEvent, target: Element): boolean {
  return target.classList.contains("scrolls") && event.clientX >= target.getBoundingClientRect().left + target.clientWidth;
}
