/** What was searched for is marked where it stands, in any case. */
import assert from "node:assert/strict";
import test from "node:test";
import { piecesOf } from "../src/search/pieces";

const marked = (text: string, words: string) =>
  piecesOf(text, words)
    .map(({ text: piece, hit }) => (hit ? `[${piece}]` : piece))
    .join("");

test("every word is marked wherever it stands", () => {
  assert.equal(marked("The Limiter limits.", "limit the"), "[The] [Limit]er [limit]s.");
  assert.equal(marked("aaa", "a aa"), "[aa][a]");
});

test("signs mean themselves, and nothing is lost", () => {
  assert.equal(marked("a.*b (c)", ".* ("), "a[.*]b [(]c)");
  assert.equal(marked("plain", ""), "plain");
  assert.equal(
    piecesOf("İstanbul", "i")
      .map((piece) => piece.text)
      .join(""),
    "İstanbul",
  );
});
