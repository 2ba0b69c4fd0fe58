/** Hidden characters made visible: the same marks as the hub's, so that people only approve what they can see. */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/u;
const EMOJI_STYLE = /[\ufe0e\ufe0f]/;
const STYLED = /[\p{So}\p{Sm}\p{Po}\p{Nd}]/u;
const LONG_BLANK = /[ \t]{40,}/g;
const EMPTY_LINES = /(?:[ \t]*\n){12,}/g;
/** Marks that change the text direction. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text with `⟨U+202E⟩` for each hidden character and `⟨80 blanks⟩` for long padding. */
export function reveal(text: string): string {
  return revealLetters(text)
    .replace(EMPTY_LINES, (run) => `\n⟨${run.split("\n").length - 1} empty lines⟩\n`)
    .replace(LONG_BLANK, (run) => ` ⟨${run.length} blanks⟩ `);
}

/** Only the hidden characters; padding stays as it is. */
export function revealLetters(text: string): string {
  let before = " ";
  let marked = "";
  for (const letter of text) {
    marked += isHidden(letter, before) ? mark(letter) : letter;
    before = letter;
  }
  return marked;
}

export function hasHidden(text: string): boolean {
  return reveal(text) !== text;
}

/** For prose, where emoji and their joiners are welcome: only direction changes are marked. */
export function revealTurns(text: string): string {
  return text.replace(TURNING, mark);
}

function isHidden(letter: string, before: string): boolean {
  if (letter === "\n" || letter === "\t" || (letter >= " " && letter <= "~")) return false;
  if (EMOJI_STYLE.test(letter)) return !STYLED.test(before);
  return HIDDEN.test(letter);
}

function mark(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
