/** A unified diff, read into rows: one column, or two side by side. Pure. */

export type Row =
  | { kind: "hunk"; text: string }
  | { kind: "same"; old: number; new: number; text: string }
  | { kind: "gone"; old: number; text: string }
  | { kind: "added"; new: number; text: string };

export type Pair = { hunk: string } | { left: Row | null; right: Row | null };

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function readDiff(diff: string): Row[] {
  const rows: Row[] = [];
  let before = 1;
  let after = 1;
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      rows.push({ kind: "hunk", text: line });
    } else if (line.startsWith("-")) rows.push({ kind: "gone", old: before++, text: line.slice(1) });
    else if (line.startsWith("+")) rows.push({ kind: "added", new: after++, text: line.slice(1) });
    else if (line.startsWith("\\")) rows.push({ kind: "hunk", text: line });
    else rows.push({ kind: "same", old: before++, new: after++, text: line.slice(1) });
  }
  return rows;
}

/** What was, on the left; what will be, on the right. */
export function pairUp(rows: readonly Row[]): Pair[] {
  const pairs: Pair[] = [];
  let gone: Row[] = [];
  let added: Row[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, added.length); at += 1) pairs.push({ left: gone[at] ?? null, right: added[at] ?? null });
    gone = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === "gone") gone.push(row);
    else if (row.kind === "added") added.push(row);
    else {
      flush();
      pairs.push(row.kind === "hunk" ? { hunk: row.text } : { left: row, right: row });
    }
  }
  flush();
  return pairs;
}

export function count(rows: readonly Row[]): { added: number; gone: number } {
  return {
    added: rows.filter((row) => row.kind === "added").length,
    gone: rows.filter((row) => row.kind === "gone").length,
  };
}

/** Whether nothing was there before. */
export function isNew(rows: readonly Row[]): boolean {
  return rows.length > 0 && rows.every((row) => row.kind === "hunk" || row.kind === "added");
}
