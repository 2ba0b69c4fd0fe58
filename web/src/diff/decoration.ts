/** What makes a diff easier to read: syntax colors and changed words. Loaded when the first diff is shown; until then, its lines are plain. Pure. */
import { type Colors, colorRows, rowsOf } from "./coloring";
import { type LineRow, type Pair, partnersOf, type Row } from "./rows";
import { type Segment, segmentsOf } from "./segments";
import type { DiffSource } from "./source";
import { languageOf, tokenize } from "./syntax";
import { changedWords, type Span } from "./words";

/** The rows from one place to another: of one column, or of pairs. */
export interface Stretch {
  source: DiffSource;
  pairs: readonly Pair[] | null;
  from: number;
  to: number;
}

/** How a line is cut into pieces. `textOf`: the line as it is shown. */
export function decorate({ source, pairs, from, to }: Stretch, path: string, textOf: (row: LineRow) => string): (row: LineRow) => Segment[] {
  const rows = pairs ? rowsOf(pairs.slice(from, to)) : source.rows.slice(from, to);
  // What a stretch begins in: a comment that started shortly before goes on in it.
  const start = Math.max(0, 2 * from - to);
  const before = pairs ? rowsOf(pairs.slice(start, from)) : source.rows.slice(start, from);
  const language = languageOf(path);
  let colors: Colors | null = null;
  if (language) colors = colorRows(rows, textOf, language, tokenize, colorRows(before, textOf, language, tokenize).after);
  const partners = pairs ? partnersIn(pairs.slice(from, to)) : partnersOf(source.rows, from, to);
  return (row) => segmentsOf(textOf(row), colors?.tokens.get(row) ?? [], wordsOf(row, partners.get(row), textOf));
}

function partnersIn(pairs: readonly Pair[]): Map<Row, LineRow> {
  const found = new Map<Row, LineRow>();
  for (const pair of pairs) {
    if ("hunk" in pair || !pair.left || !pair.right || pair.left === pair.right) continue;
    found.set(pair.left, pair.right);
    found.set(pair.right, pair.left);
  }
  return found;
}

function wordsOf(row: LineRow, partner: LineRow | undefined, textOf: (row: LineRow) => string): readonly Span[] {
  if (!partner || row.kind === "same") return [];
  const [old, fresh] = row.kind === "gone" ? [row, partner] : [partner, row];
  const changed = changedWords(textOf(old), textOf(fresh));
  return (row.kind === "gone" ? changed?.old : changed?.new) ?? [];
}
