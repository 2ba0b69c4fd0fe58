/** A field shows what is hidden, and gives back what was not changed as it was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareTexts, onlyChanges } from "../src/text/diff";
import { fromField, markTyped, toField } from "../src/text/editing";
import { revealLetters } from "../src/text/reveal";
import { random } from "./random";

const PIECES = [
  "a",
  "rm -rf ",
  "\n",
  "\r\n",
  "\r",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u00ad",
  "\u2028",
  "\u0000",
  "\t",
  "⟨",
  "⟩",
  "⟨U+202E⟩",
  "U+202E⟩",
  "⟨U+27E8⟩",
  "⟨U+FFFFFF⟩",
  "\ud800",
  "\udc00",
  "😀",
  "\u{e0041}",
  "\ufe0f",
  "é",
  "✔",
  "\u00a0",
  "ş",
];

function texts(seed: number, count: number): string[] {
  const next = random(seed);
  return Array.from({ length: count }, () => Array.from({ length: Math.floor(next() * 24) }, () => PIECES[Math.floor(next() * PIECES.length)]).join(""));
}

test("what was not changed comes back to the byte", () => {
  for (const text of texts(1, 4000)) assert.equal(fromField(toField(text), text), text);
});

test("a field has nothing in it that cannot be seen, and no carriage return that a browser would drop", () => {
  for (const text of texts(2, 4000)) {
    const field = toField(text);
    assert.equal(revealLetters(field), field);
    assert.ok(!field.includes("\r"));
    assert.equal(markTyped(field), field);
  }
});

test("a line that is put before others leaves the others as they were", () => {
  for (const text of texts(3, 2000)) assert.ok(fromField(`first\n${toField(text)}`, text).endsWith(text));
});

test("a letter that is typed at the end of a line changes that line alone", () => {
  const next = random(4);
  for (const text of texts(5, 2000)) {
    const lines = toField(text).split("\n");
    const at = Math.floor(next() * lines.length);
    const field = lines.map((line, index) => (index === at ? `${line}Z` : line)).join("\n");
    const [before, after] = [text.split("\n"), fromField(field, text).split("\n")];
    assert.equal(after.length, before.length);
    before.forEach((line, index) => {
      const ending = index < before.length - 1 && line.endsWith("\r") ? "\r" : "";
      assert.equal(after[index], index === at ? `${ending ? line.slice(0, -1) : line}Z${ending}` : line);
    });
  }
});

test("an edit in a file with CRLF keeps CRLF, in new lines too", () => {
  assert.equal(fromField("one\nTWO\nmore\nthree\n", "one\r\ntwo\r\nthree\r\n"), "one\r\nTWO\r\nmore\r\nthree\r\n");
  assert.equal(fromField("one\n\ntwo", "one\r\ntwo"), "one\r\n\r\ntwo");
});

test("mixed endings stay where they were", () => {
  assert.equal(fromField("a\nB\nc\nd", "a\r\nb\nc\r\nd"), "a\r\nB\nc\r\nd");
  assert.equal(fromField("a\nc\nd", "a\r\nb\nc\r\nd"), "a\r\nc\r\nd");
});

test("a mark can be taken out, and written", () => {
  assert.equal(toField("ls \u202etxt"), "ls ⟨U+202E⟩txt");
  assert.equal(fromField("ls txt", "ls \u202etxt"), "ls txt");
  assert.equal(fromField("ls ⟨U+200B⟩txt", "ls txt"), "ls \u200btxt");
});

test("what is pasted is marked, and marks are not marked again", () => {
  assert.equal(markTyped("a\u202eb ⟨U+202E⟩"), "a⟨U+202E⟩b ⟨U+202E⟩");
});

test("a review shows what changes and a few lines around it", () => {
  const before = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  const after = before.map((line, at) => (at === 50 ? "changed" : line));
  const rows = onlyChanges(compareTexts(before.join("\n"), after.join("\n")), (count) => `${count} lines`);
  assert.deepEqual(
    rows.map((row) => ("text" in row ? row.text : "")),
    ["47 lines", "line 47", "line 48", "line 49", "line 50", "changed", "line 51", "line 52", "line 53", "46 lines"],
  );
});
