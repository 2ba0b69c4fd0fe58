/** One line of Markdown as plain text, for rows that can't show more. Pure; the twin of the hub's `model/plain_line.py`. */

const BLOCK = /^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?/;
const LINK = /!?\[([^\]\n]*)\]\([^)\s]*(?:\s+"[^"]*")?\)/g;
const CODE = /(`+)(.+?)\1/g;
const STRONG = /(\*\*|~~)(?=\S)(.+?)(?<=\S)\1/g;
/** Not the name of a Python file. */
const LINED = /(?<!\w)(__)(?=\S)([^_]+)(?<=\S)__(?!\w|\.\w)/g;
const EMPHASIS = /(?<![\w*])([*_])(?=\S)([^*_]+?)(?<=\S)\1(?![\w*])/g;
const RULE = /^(?:\s*(?:[-*_=]\s*){3,}|\s*(?:```|~~~)\s*[\w+-]*\s*|\s*\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*)$/;
/** More of a line is never shown. */
const LONGEST = 1000;

export function plainLine(line: string): string {
  const text = line.slice(0, LONGEST).replace(BLOCK, "");
  let plain = "";
  let at = 0;
  for (const code of text.matchAll(CODE)) {
    plain += unstyled(text.slice(at, code.index)) + code[2];
    at = code.index + code[0].length;
  }
  return (plain + unstyled(text.slice(at))).trim();
}

/** The first line that says something; empty if none does. */
export function firstPlainLine(text: string): string {
  for (const line of text.split("\n")) {
    const plain = RULE.test(line.slice(0, LONGEST)) ? "" : plainLine(line);
    if (plain) return plain;
  }
  return "";
}

function unstyled(text: string): string {
  return text.replace(STRONG, "$2").replace(LINED, "$2").replace(EMPHASIS, "$2").replace(LINK, "$1");
}
