/** A text as a field can show it: hidden characters as marks that become the same characters again, line endings restored. Pure. */
import { compareLines } from "./diff";
import { revealLetters } from "./reveal";

const MARK = /⟨U\+([0-9A-F]{4,6})⟩/g;
const LAST = 0x10ffff;

interface TextLine {
  text: string;
  end: "\n" | "\r\n" | "";
}

/** What a field shows: `⟨U+202E⟩` for each hidden character, and only line feeds between lines. */
export function toField(text: string): string {
  return linesOf(text)
    .map((line) => markUp(line.text))
    .join("\n");
}

/** The text of a field that began as `toField(before)`. Unchanged parts are the same, to the byte. */
export function fromField(field: string, before: string): string {
  const old = linesOf(before);
  const texts = field.split("\n").map(unmark);
  const ends = endsFor(old, texts);
  return texts.map((text, at) => text + (ends[at] ?? "")).join("");
}

/** Marks hidden characters that were typed or pasted. Existing marks stay. */
export function markTyped(field: string): string {
  return revealLetters(field);
}

/** A typed mark is distinguished from ours: its bracket is marked. */
function markUp(text: string): string {
  return revealLetters(text.replace(MARK, (mark, code: string) => (isCode(code) ? `⟨U+27E8⟩${mark.slice(1)}` : mark)));
}

function unmark(text: string): string {
  return text.replace(MARK, (mark, code: string) => (isCode(code) ? String.fromCodePoint(parseInt(code, 16)) : mark));
}

function isCode(code: string): boolean {
  return parseInt(code, 16) <= LAST;
}

function linesOf(text: string): TextLine[] {
  const pieces = text.split("\n");
  return pieces.map((piece, at) => {
    if (at === pieces.length - 1) return { text: piece, end: "" };
    return piece.endsWith("\r") ? { text: piece.slice(0, -1), end: "\r\n" } : { text: piece, end: "\n" };
  });
}

/** The ending of each line. An unchanged line keeps its own, a changed one takes that of the line it replaces, a new one that of its neighbor. */
function endsFor(old: readonly TextLine[], texts: readonly string[]): string[] {
  const usual = old.filter((line) => line.end === "\r\n").length * 2 > old.length - 1 && old.length > 1 ? "\r\n" : "\n";
  const ends: string[] = [];
  let [at, before, gone] = [0, "", [] as TextLine[]];
  for (const [kind] of stepsOf(old, texts)) {
    if (kind === "gone") gone.push(old[at++] as TextLine);
    else {
      const from = kind === "same" ? old[at++] : gone.shift();
      if (kind === "same") gone = [];
      before = from?.end || before || usual;
      ends.push(before);
    }
  }
  // The last line has no ending, whatever it was before.
  ends[ends.length - 1] = "";
  return ends;
}

function stepsOf(old: readonly TextLine[], texts: readonly string[]): ["same" | "gone" | "added", string][] {
  const a = old.map((line) => line.text);
  let head = 0;
  while (head < a.length && head < texts.length && a[head] === texts[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < texts.length - head && a[a.length - 1 - tail] === texts[texts.length - 1 - tail]) tail += 1;
  const same = (text: string): ["same", string] => ["same", text];
  return [...a.slice(0, head).map(same), ...compareLines(a.slice(head, a.length - tail), texts.slice(head, texts.length - tail)), ...a.slice(a.length - tail).map(same)];
}
