/**
 * Hidden characters made visible: the same marks as the hub's, so that people only approve what they can see.
 *
 * Some hidden characters belong to a script: they shape Persian and Indic letters, join emoji, and choose the form of a
 * sign. In words they stay; in a command, a path or an address they are marked like all others. The hub does the same
 * (`model/names.py`); both are tested with `tests/model/hidden.json`.
 */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/u;
const EMOJI_STYLE = /[\ufe0e\ufe0f]/;
const STYLED = /[\p{So}\p{Sm}\p{Po}\p{Nd}\u2139\u3030]/u;
/** Letters and marks of Arabic and Syriac, with the additions for Persian, Urdu and others. */
const JOINING = /[\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06ef\u06fa-\u06ff\u0710-\u074a\u074d-\u077f\u08a0-\u08e1\u08e3-\u08ff]/;
/** Letters and marks of the Indic scripts, from Devanagari to Sinhala, and their digits. */
const INDIC = /[\u0900-\u0963\u0970-\u0dff]/;
const EMOJI = /[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\u{1f000}-\u{1faff}]/u;
const IDEOGRAPH = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
/** They select the form of the character before them. */
const FORMS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const BLANK = /\p{Zs}/u;
/** Most texts have nothing of this. */
const SUSPECT = new RegExp(`(?![\\n\\t ])(?:${HIDDEN.source}|${EMOJI_STYLE.source})`, "u");
const LONG_BLANK = /[ \t]{40,}/g;
const EMPTY_LINES = /(?:[ \t]*\n){12,}/g;

/** Words with `⟨U+202E⟩` for each hidden character that isn't part of their script, and `⟨80 blanks⟩` for long padding. */
export function reveal(text: string): string {
  return padding(revealLetters(text, belongs));
}

/** A command, a path or an address: every hidden character is marked, because another one could look the same. */
export function revealExactly(text: string): string {
  return padding(revealLetters(text));
}

function padding(text: string): string {
  return text.replace(EMPTY_LINES, (run) => `\n⟨${run.split("\n").length - 1} empty lines⟩\n`).replace(LONG_BLANK, (run) => ` ⟨${run.length} blanks⟩ `);
}

type Belongs = (letter: string, last: string, before: string, after: string) => boolean;

/** Only the hidden characters; padding stays as it is. */
export function revealLetters(text: string, stays: Belongs = () => false): string {
  if (!SUSPECT.test(text)) return text;
  let [last, before] = ["", " "];
  let marked = "";
  const letters = [...text];
  letters.forEach((letter, at) => {
    marked += isHidden(letter, before) && !stays(letter, last, before, letters[at + 1] ?? "") ? mark(letter) : letter;
    [last, before] = [before, letter];
  });
  return marked;
}

/** Whether a hidden character is part of the script or the emoji around it. `last` is the one before `before`. */
export function belongs(letter: string, last: string, before: string, after: string): boolean {
  if (letter !== "\u200c" && letter !== "\u200d") return FORMS.test(letter) && IDEOGRAPH.test(before);
  const near = EMOJI_STYLE.test(before) ? last : before;
  const inScript = [JOINING, INDIC].some((script) => script.test(before) && script.test(after));
  return inScript || (letter === "\u200d" && EMOJI.test(near) && EMOJI.test(after));
}

export function hasHidden(text: string): boolean {
  return reveal(text) !== text;
}

/** For prose that is only read: every blank is welcome, too. */
export function revealProse(text: string): string {
  return revealLetters(text, (letter, last, before, after) => BLANK.test(letter) || belongs(letter, last, before, after));
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
