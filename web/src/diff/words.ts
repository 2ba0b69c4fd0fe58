/** The words that differ between a line and the line that replaces it. Pure. */

/** From and to, in characters. */
export type Span = readonly [number, number];

const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
const LONGEST = 1_000;
/** Words of one line times words of the other: beyond that, everything between the first and the last difference is marked. */
const MOST_COMPARED = 40_000;
/** Lines that share less than this are different lines: marks would be noise. */
const ALIKE = 0.35;

/** The spans of the old and of the new line; null where marks wouldn't help. */
export function changedWords(before: string, after: string): { old: Span[]; new: Span[] } | null {
  if (before === after || before.length > LONGEST || after.length > LONGEST) return null;
  const [a, b] = [before.match(WORD) ?? [], after.match(WORD) ?? []];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [keptA, keptB] = [new Array<boolean>(a.length).fill(false), new Array<boolean>(b.length).fill(false)];
  keptA.fill(true, 0, head).fill(true, a.length - tail);
  keptB.fill(true, 0, head).fill(true, b.length - tail);
  if ((a.length - head - tail) * (b.length - head - tail) <= MOST_COMPARED) keepCommon(a, b, head, tail, keptA, keptB);
  const common = a.reduce((sum, word, at) => sum + (keptA[at] ? word.trim().length : 0), 0);
  const longest = Math.max(lettersOf(a), lettersOf(b));
  if (longest > 0 && common / longest < ALIKE) return null;
  return { old: spansOf(a, keptA), new: spansOf(b, keptB) };
}

function lettersOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + word.trim().length, 0);
}

/** By the longest common subsequence of what is between. */
function keepCommon(a: readonly string[], b: readonly string[], head: number, tail: number, keptA: boolean[], keptB: boolean[]): void {
  const [rows, columns] = [a.length - head - tail, b.length - head - tail];
  const width = columns + 1;
  const longest = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const at = row * width + column;
      longest[at] = a[head + row] === b[head + column] ? (longest[at + width + 1] as number) + 1 : Math.max(longest[at + width] as number, longest[at + 1] as number);
    }
  }
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    const at = row * width + column;
    if (a[head + row] === b[head + column]) {
      keptA[head + row++] = true;
      keptB[head + column++] = true;
    } else if ((longest[at + width] as number) >= (longest[at + 1] as number)) row += 1;
    else column += 1;
  }
}

/** The words that weren't kept, as spans. A blank between two of them belongs to them. */
function spansOf(words: readonly string[], kept: readonly boolean[]): Span[] {
  const spans: [number, number][] = [];
  let at = 0;
  words.forEach((word, index) => {
    const between = !word.trim() && kept[index - 1] === false && kept[index + 1] === false;
    if (!kept[index] || between) {
      const last = spans.at(-1);
      if (last?.[1] === at) last[1] = at + word.length;
      else spans.push([at, at + word.length]);
    }
    at += word.length;
  });
  return spans;
}
