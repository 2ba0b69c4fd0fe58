/** A new card is painted first: what stands around it, such as the list of sessions, follows a frame later. */
import { effect, signal, type ReadonlySignal } from "@preact/signals";

/** Milliseconds. By then it goes on in any case: a page that nobody sees draws no frames. */
const LONGEST = 100;

/** Whether a new card is about to be painted. */
const painting = signal(false);

/** A card arrives: until it is painted, whatever is read through `afterwards` stays as it is. */
export function paintFirst(): void {
  if (painting.peek() || document.hidden) return;
  painting.value = true;
  const timer = setTimeout(goOn, LONGEST);
  function goOn(): void {
    clearTimeout(timer);
    painting.value = false;
  }
  // The first callback comes before the card is painted, the second one before the frame after that.
  requestAnimationFrame(() => requestAnimationFrame(goOn));
}

/** The same, a frame after a card that it changed with. */
export function afterwards<T>(source: ReadonlySignal<T>): ReadonlySignal<T> {
  const shown = signal(source.peek());
  effect(() => {
    if (!painting.value) shown.value = source.value;
  });
  return shown;
}
