/** A unified diff, read into rows: one column, or two side by side. Pure. */

export type LineRow = { kind: "same"; old: number; new: number; text: string } | { kind: "gone"; old: number; text: string } | { kind: "added"; new: number; text: string };
/** `end`: git's remark that the line above has no newline. It is said once, above the diff. */
export type Row = { kind: "hunk"; text: string } | { kind: "end" } | LineRow;

export type Pair = { hunk: string } | { left: LineRow | null; right: LineRow | null };

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** `old` and `new`: the line numbers at its start, if it isn't the start of a diff. Each line becomes one row. */
export function readDiff(diff: string, old = 1, fresh = 1): Row[] {
  const rows: Row[] = [];
  let before = old;
  let after = fresh;
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    switch (line.charCodeAt(0)) {
      case 43: // +
        rows.push({ kind: "added", new: after++, text: line.slice(1) });
        break;
      case 45: // -
        rows.push({ kind: "gone", old: before++, text: line.slice(1) });
        break;
      case 64: {
        const hunk = HUNK.exec(line);
        if (hunk) {
          before = Number(hunk[1]);
          after = Number(hunk[2]);
        }
        rows.push({ kind: "hunk", text: line });
        break;
      }
      case 92: // \
        rows.push({ kind: "end" });
        break;
      default:
        rows.push({ kind: "same", old: before++, new: after++, text: line.slice(1) });
    }
  }
  return rows;
}

/** Before on the left; after on the right. */
export function pairUp(rows: readonly Row[]): Pair[] {
  const pairs: Pair[] = [];
  let gone: LineRow[] = [];
  let added: LineRow[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, added.length); at += 1) pairs.push({ left: gone[at] ?? null, right: added[at] ?? null });
    gone = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === "end") continue;
    if (row.kind === "gone") {
      if (added.length) flush();
      gone.push(row);
    } else if (row.kind === "added") added.push(row);
    else {
      flush();
      pairs.push(row.kind === "hunk" ? { hunk: row.text } : { left: row, right: row });
    }
  }
  flush();
  return pairs;
}

/** How far a run of changed lines is followed to find what a line replaces. */
const LONGEST_RUN = 500;

/** For the rows of a range: the row that each one replaces, or is replaced by. None in very long runs, or where rows aren't known. */
export function partnersOf(rows: readonly (Row | undefined)[], from: number, to: number): Map<Row, LineRow> {
  const found = new Map<Row, LineRow>();
  let at = from;
  while (at > 0 && from - at < 2 * LONGEST_RUN && isChange(rows[at - 1])) at -= 1;
  while (at < to) {
    if (!isChange(rows[at])) {
      at += 1;
      continue;
    }
    const gone: LineRow[] = [];
    const added: LineRow[] = [];
    while (rows[at]?.kind === "gone" || (rows[at]?.kind === "end" && !added.length)) {
      const row = rows[at++] as Row;
      if (row.kind === "gone") gone.push(row);
    }
    while (rows[at]?.kind === "added") added.push(rows[at++] as LineRow);
    // A run that isn't known to its end could be paired wrongly.
    if (at < rows.length && rows[at] === undefined) break;
    if (gone.length <= LONGEST_RUN && added.length <= LONGEST_RUN) {
      for (let index = 0; index < Math.min(gone.length, added.length); index += 1) {
        found.set(gone[index] as LineRow, added[index] as LineRow);
        found.set(added[index] as LineRow, gone[index] as LineRow);
      }
    }
    if (!gone.length && !added.length) at += 1;
  }
  return found;
}

function isChange(row: Row | undefined): boolean {
  return row?.kind === "gone" || row?.kind === "added";
}
