/** How much of something tall has been on the screen, as ranges of pixels from its top. Pure. */

export interface Cover {
  readonly width: number;
  readonly height: number;
  /** In order, none touching the next. */
  readonly stretches: readonly (readonly [number, number])[];
}

/** This much may be missing: borders, and half pixels. */
const SLACK = 6;

export const NOTHING_YET: Cover = { width: 0, height: 0, stretches: [] };

/** It has this size now. At another width its lines break elsewhere; at the same width it only grew or shrank at its end. */
export function resize(cover: Cover, width: number, height: number): Cover {
  if (cover.width === width && cover.height === height) return cover;
  const scale = cover.width === width || cover.height === 0 ? 1 : height / cover.height;
  const scaled = cover.stretches.map(([from, to]) => [from * scale, Math.min(to * scale, height)] as const);
  return { width, height, stretches: scaled.filter(([from, to]) => to > from) };
}

/** This range was on the screen. */
export function show(cover: Cover, from: number, to: number): Cover {
  const [top, bottom] = [Math.max(0, from), Math.min(cover.height, to)];
  if (bottom <= top || cover.stretches.some(([a, b]) => a <= top && bottom <= b)) return cover;
  let joined: readonly [number, number] = [top, bottom];
  const apart: (readonly [number, number])[] = [];
  for (const each of cover.stretches) {
    if (each[1] < joined[0] || each[0] > joined[1]) apart.push(each);
    else joined = [Math.min(each[0], joined[0]), Math.max(each[1], joined[1])];
  }
  return { ...cover, stretches: [...apart, joined].sort((a, b) => a[0] - b[0]) };
}

/** The ranges that were never on the screen. */
export function gaps(cover: Cover): [number, number][] {
  const found: [number, number][] = [];
  let at = 0;
  for (const [from, to] of cover.stretches) {
    if (from - at > SLACK) found.push([at, from]);
    at = to;
  }
  if (cover.height - at > SLACK) found.push([at, cover.height]);
  return found;
}
