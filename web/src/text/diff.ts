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

/** Before on the left; after on the right. */
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

/** Beyond this, lines are not compared one by one. */
const MOST = 600;

/** What changes from one text to the other. The position in the file is unknown. */
export function compareTexts(before: string, after: string): Row[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const middle = compareLines(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const rows: Row[] = [];
  let [old, fresh] = [1, 1];
  const put = (kind: "same" | "gone" | "added", text: string) => {
    if (kind === "same") rows.push({ kind, old: old++, new: fresh++, text });
    else if (kind === "gone") rows.push({ kind, old: old++, text });
    else rows.push({ kind, new: fresh++, text });
  };
  a.slice(0, head).forEach((text) => put("same", text));
  middle.forEach(([kind, text]) => put(kind, text));
  a.slice(a.length - tail).forEach((text) => put("same", text));
  return rows;
}

/** How many lines of context are shown around a change. */
const AROUND = 3;

/** Only what changes, and a few lines around it. `says` puts the number of lines between two changes into words. */
export function onlyChanges(rows: readonly Row[], says: (lines: number) => string): Row[] {
  const near = rows.map(() => false);
  rows.forEach((row, at) => {
    if (row.kind !== "same") near.fill(true, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const shown: Row[] = [];
  let left = 0;
  const skip = () => {
    if (left) shown.push({ kind: "hunk", text: says(left) });
    left = 0;
  };
  rows.forEach((row, at) => {
    if (!near[at]) left += 1;
    else {
      skip();
      shown.push(row);
    }
  });
  skip();
  return shown;
}

export type Step = ["same" | "gone" | "added", string];

/** By the longest common subsequence of lines; everything removed and added if that would take too long. */
export function compareLines(a: readonly string[], b: readonly string[]): Step[] {
  const gone = (text: string): Step => ["gone", text];
  const added = (text: string): Step => ["added", text];
  if (!a.length || !b.length || a.length > MOST || b.length > MOST) return [...a.map(gone), ...b.map(added)];
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (row: number, column: number) => longest[row]?.[column] ?? 0;
  for (let row = a.length - 1; row >= 0; row -= 1) {
    for (let column = b.length - 1; column >= 0; column -= 1) {
      (longest[row] as Uint16Array)[column] = a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const steps: Step[] = [];
  let [row, column] = [0, 0];
  while (row < a.length && column < b.length) {
    if (a[row] === b[column]) {
      steps.push(["same", a[row] as string]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) steps.push(gone(a[row++] as string));
    else steps.push(added(b[column++] as string));
  }
  return [...steps, ...a.slice(row).map(gone), ...b.slice(column).map(added)];
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
