/** A comment on a line, as Claude gets it: the file, the line, and what the person wrote. Pure. */
import type { LineRow } from "../diff/rows";

export interface LineName {
  path: string;
  /** `old`: the line was removed; its number is that of the old file. */
  side: "old" | "new";
  line: number;
}

export function lineOf(path: string, row: LineRow): LineName {
  return row.kind === "gone" ? { path, side: "old", line: row.old } : { path, side: "new", line: row.new };
}

export function nameOf({ path, side, line }: LineName): string {
  return `${path}:${side}:${line}`;
}

/**
 * Never quotes the line: Claude wrote it, and a message counts as a person's own words. For the same reason, a path with
 * anything unusual in it is quoted as JSON. English, as everything that Claude reads.
 */
export function commentFor({ path, side, line }: LineName, comment: string): string {
  const file = /^[\w./@+-]+$/.test(path) ? path : JSON.stringify(path);
  const place = side === "old" ? `${file}, line ${line} of the old version, which you removed` : `${file}, line ${line}`;
  return `Review comment on ${place}:\n\n${comment.trim()}`;
}
