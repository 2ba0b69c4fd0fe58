/** A long diff is drawn in chunks of rows: only those near the screen exist, the others are blank boxes of their height. Pure. */

/** Rows in a chunk. */
export const CHUNK = 100;
/** Lines that are fetched together. */
export const PAGE = 1_000;
/** Pixels of a row, before one was measured. */
export const ROW = 20;

/** Chunks in a group: far from the screen, a group is one blank box. */
export const GROUP = 20;

export interface Chunk {
  readonly from: number;
  readonly to: number;
}

export function chunkAt(index: number, total: number): Chunk {
  return { from: index * CHUNK, to: Math.min(total, (index + 1) * CHUNK) };
}

export function chunkCount(total: number): number {
  return Math.ceil(total / CHUNK);
}

/** The height of lines of these lengths, broken after so many columns. */
export function heightOf(lengths: readonly number[], columns: number, row = ROW): number {
  return lengths.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / Math.max(1, columns))), 0) * row;
}

/** The first lines of the pages that a range needs. */
export function pagesOf({ from, to }: Chunk): number[] {
  const pages: number[] = [];
  for (let page = Math.floor(from / PAGE); page * PAGE < to; page += 1) pages.push(page * PAGE);
  return pages;
}
