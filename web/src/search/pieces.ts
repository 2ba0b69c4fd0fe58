/** A text in pieces: those that a search was for, and those between them. Pure. */

export interface Piece {
  readonly text: string;
  readonly hit: boolean;
}

export function piecesOf(text: string, words: string): Piece[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const lowered = text.toLowerCase();
  // In a few languages lower case has another length: then nothing is marked.
  if (!wanted.length || lowered.length !== text.length) return [{ text, hit: false }];
  const pieces: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    const next = nextHit(lowered, wanted, at);
    if (!next) break;
    if (next.from > at) pieces.push({ text: text.slice(at, next.from), hit: false });
    pieces.push({ text: text.slice(next.from, next.to), hit: true });
    at = next.to;
  }
  return at < text.length ? [...pieces, { text: text.slice(at), hit: false }] : pieces;
}

/** The first one from here on; the longest of those that start there. */
function nextHit(text: string, wanted: readonly string[], at: number): { from: number; to: number } | null {
  let best: { from: number; to: number } | null = null;
  for (const word of wanted) {
    const from = text.indexOf(word, at);
    if (from >= 0 && (!best || from < best.from || (from === best.from && from + word.length > best.to))) best = { from, to: from + word.length };
  }
  return best;
}
