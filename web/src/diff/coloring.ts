/** Syntax colors of the rows of a diff: the old and the new file go on separately. Pure. */
import type { LineRow, Pair, Row } from "./rows";
import type { Inside, Language, Token, tokenize } from "./syntax";

/** What each file is inside of, between two rows. */
export interface Places {
  readonly old: Inside;
  readonly new: Inside;
}

export const OUTSIDE: Places = { old: null, new: null };

export interface Colors {
  tokens: Map<LineRow, Token[]>;
  after: Places;
}

/** `textOf`: the line as it is shown. A hunk starts outside of everything, as far as one can know. */
export function colorRows(rows: readonly (Row | undefined)[], textOf: (row: LineRow) => string, language: Language, read: typeof tokenize, before: Places = OUTSIDE): Colors {
  const tokens = new Map<LineRow, Token[]>();
  let { old, new: fresh } = before;
  for (const row of rows) {
    if (row === undefined || row.kind === "hunk") [old, fresh] = [null, null];
    else if (row.kind !== "end") {
      const found = read(textOf(row), language, row.kind === "gone" ? old : fresh);
      tokens.set(row, found.tokens);
      if (row.kind !== "added") old = found.inside;
      if (row.kind !== "gone") fresh = found.inside;
    }
  }
  return { tokens, after: { old, new: fresh } };
}

/** The rows of pairs, each once. */
export function rowsOf(pairs: readonly Pair[]): Row[] {
  return pairs.flatMap((pair): Row[] => {
    if ("hunk" in pair) return [{ kind: "hunk", text: pair.hunk }];
    const { left, right } = pair;
    return left && right && left !== right ? [left, right] : left ? [left] : right ? [right] : [];
  });
}
