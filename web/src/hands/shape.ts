/** Where a card's controls stand on the screen, and whether that changed by itself or by scrolling. Pure. */

export interface Shape {
  /** Left, top, right and bottom of each control. */
  readonly controls: readonly number[];
  /** What changes with the layout and not with scrolling: sizes, and the card's place in what is scrolled. */
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

/** All went up or down, and none sideways: controls that stick go less far than the others. */
function isShifted(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, at) => at % 2 === 1 || Math.abs(value - (b[at] as number)) < NOTICED);
}
