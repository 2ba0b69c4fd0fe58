/** The marks that the page makes are those that the hub makes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasHidden, reveal, revealTurns } from "../src/text/reveal";

const MARKED: [string, string][] = [
  ["npm test", "npm test"],
  ["a\u202eb", "a⟨U+202E⟩b"],
  ["zero\u200bwidth", "zero⟨U+200B⟩width"],
  ["no\u00a0break", "no⟨U+00A0⟩break"],
  ["tag\u{e0041}", "tag⟨U+E0041⟩"],
  ["bell\u0007", "bell⟨U+0007⟩"],
  ["half \ud83d", "half ⟨U+D83D⟩"],
  ["braille \u2800", "braille ⟨U+2800⟩"],
  ["a\u2028b", "a⟨U+2028⟩b"],
  ["☀\ufe0f", "☀\ufe0f"],
  ["a\ufe0f", "a⟨U+FE0F⟩"],
  [`rm${" ".repeat(80)}-rf`, "rm ⟨80 blanks⟩ -rf"],
  [`a${"\n".repeat(20)}b`, "a\n⟨20 empty lines⟩\nb"],
  ["tab\tand\nline", "tab\tand\nline"],
];

for (const [text, marked] of MARKED) {
  test(`reveals ${JSON.stringify(text)}`, () => {
    assert.equal(reveal(text), marked);
    assert.equal(hasHidden(text), text !== marked);
  });
}

test("prose keeps its emoji and shows what turns the direction", () => {
  assert.equal(revealTurns("👨\u200d👩 ok \u202e"), "👨\u200d👩 ok ⟨U+202E⟩");
});
