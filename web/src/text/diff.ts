/** What changes from one text to another, by lines. Pure. */
import type { Row } from "../diff/rows";

/** Beyond this, lines are not compared one by one. */
const MOST = 600;

/** What changes from one text to the other. The position in the file is unknown. `whole`: a missing newline at the end counts. */
export function compareTexts(before: string, after: string, whole = false): Row[] {
  const [a, b] = [linesOf(before, whole), linesOf(after, whole)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const middle = compareLines(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const rows: Row[] = [];
  let [old, fresh] = [1, 1];
  const put = (kind: "same" | "gone" | "added", line: string) => {
    const text = line.endsWith(OPEN) ? line.slice(0, -1) : line;
    if (kind === "same") rows.push({ kind, old: old++, new: fresh++, text });
    else if (kind === "gone") rows.push({ kind, old: old++, text });
    else rows.push({ kind, new: fresh++, text });
    if (text !== line) rows.push({ kind: "end" });
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

/** Stands after a last line without a newline; no line contains one. */
const OPEN = "\n";

function linesOf(text: string, whole: boolean): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else if (whole) lines.push(`${lines.pop()}${OPEN}`);
  return lines;
}
