/** While the person presses something, whatever would move it waits: a click counts only if it ends where it began. */

const pointers = new Set<number>();
const waiting = new Set<() => void>();

export const isPressing = (): boolean => pointers.size > 0;

/** Calls back immediately, or once nothing is pressed any more: the same function only once. */
export function whenReleased(act: () => void): void {
  if (isPressing()) waiting.add(act);
  else act();
}

export function watchPresses(): void {
  addEventListener("pointerdown", (event) => pointers.add(event.pointerId), true);
  for (const name of ["pointerup", "pointercancel"] as const) addEventListener(name, release, true);
  // It went up where no page hears it, such as on a scrollbar.
  addEventListener("pointermove", (event) => pointers.has(event.pointerId) && event.buttons === 0 && release(event), true);
}

function release({ pointerId }: PointerEvent): void {
  // After the click.
  setTimeout(() => {
    pointers.delete(pointerId);
    if (isPressing()) return;
    const acts = [...waiting];
    waiting.clear();
    for (const act of acts) act();
  });
}
