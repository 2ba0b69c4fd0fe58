/** Where a card's controls are on the screen, and whether they moved by themselves or by scrolling. Pure. */

export interface Shape {
  /** Left, top, right and bottom of each control. */
  readonly controls: readonly number[];
  /** What changes with the layout and not with scrolling: sizes, and the card's position in its scroller. */
  readonly layout: readonly number[];
}

export type Change = "still" | "scrolled" | "moved";

/** Too few pixels to notice. */
const NOTICED = 2;

/** `scrolling`: the person is scrolling, or has only just stopped. */
export function compare(before: Shape, after: Shape, scrolling: boolean): Change {
  if (isSame(before.controls, after.controls)) return "still";
  return scrolling && isSame(before.layout, after.layout) && isShifted(before.controls, after.controls) ? "scrolled" : "moved";
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, at) => Math.abs(value - (b[at] as number)) < NOTICED);
}

/** All moved up or down, and none sideways: sticky controls move less than the others. */
function isShifted(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, at) => at % 2 === 1 || Math.abs(value - (b[at] as number)) < NOTICED);
}
