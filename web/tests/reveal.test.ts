/** The marks that the page makes are those that the hub makes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "../../tests/model/hidden.json";
import { hasHidden, reveal, revealExactly, revealProse } from "../src/text/reveal";

for (const { name, text, words, exactly } of cases) {
  test(`hidden characters: ${name}`, () => {
    assert.equal(reveal(text), words);
    assert.equal(revealExactly(text), exactly);
    assert.equal(hasHidden(text), text !== words);
  });
}

test("prose keeps its emoji and its blanks, and shows what hides", () => {
  assert.equal(revealProse("👨\u200d👩 «\u00a0ok\u202f» \u202e\u{e0041}"), "👨\u200d👩 «\u00a0ok\u202f» ⟨U+202E⟩⟨U+E0041⟩");
});

test("half a character is shown", () => {
  assert.equal(reveal("half \ud83d"), "half ⟨U+D83D⟩");
});
