/** A line cut into pieces that look the same: by syntax, by changed words, by marks of hidden characters. Pure; the pieces are plain text. */
import type { Token, TokenKind } from "./syntax";
import type { Span } from "./words";

export interface Segment {
  text: string;
  kind: TokenKind | null;
  changed: boolean;
  /** A mark of a hidden character. */
  mark: boolean;
}

const MARK = /⟨(?:U\+[0-9A-F]{4,6}|\d+ (?:blanks|empty lines))⟩/g;

/** Tokens and spans are in order, and don't overlap among themselves. */
export function segmentsOf(text: string, tokens: readonly Token[], spans: readonly Span[]): Segment[] {
  if (!text) return [];
  const marks: Span[] = text.includes("⟨") ? [...text.matchAll(MARK)].map((found) => [found.index, found.index + found[0].length]) : [];
  if (!tokens.length && !spans.length && !marks.length) return [{ text, kind: null, changed: false, mark: false }];
  const edges = new Set([0, text.length]);
  for (const [from, to] of [...tokens, ...spans, ...marks]) edges.add(from).add(to);
  const cuts = [...edges].filter((at) => at >= 0 && at <= text.length).sort((a, b) => a - b);
  const [token, span, mark] = [walk(tokens), walk(spans), walk(marks)];
  return cuts.slice(0, -1).map((from, at) => ({
    text: text.slice(from, cuts[at + 1]),
    kind: token(from)?.[2] ?? null,
    changed: span(from) !== undefined,
    mark: mark(from) !== undefined,
  }));
}

/** The span that contains a place; places are asked for in order. */
function walk<T extends readonly [number, number, ...unknown[]]>(spans: readonly T[]): (at: number) => T | undefined {
  let next = 0;
  return (at) => {
    while (next < spans.length && (spans[next] as T)[1] <= at) next += 1;
    const span = spans[next];
    return span && span[0] <= at ? span : undefined;
  };
}
