/** Diffs: rows, pairs, changed words, colors, pieces, and what is drawn of long ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "../../tests/present/diffs.json";
import { chunkAt, chunkCount, heightOf, pagesOf } from "../src/diff/chunks";
import { colorRows, rowsOf } from "../src/diff/coloring";
import { factsOf, remarksOf, withoutEnding } from "../src/diff/facts";
import { type LineRow, pairUp, partnersOf, readDiff } from "../src/diff/rows";
import { segmentsOf } from "../src/diff/segments";
import { DiffSource } from "../src/diff/source";
import { languageOf, tokenize } from "../src/diff/syntax";
import { changedWords } from "../src/diff/words";
import type { DiffFacts } from "../src/feed/model";
import { compareTexts } from "../src/text/diff";
import { random } from "./random";

test("the facts of a diff are the hub's", () => {
  for (const { name, diff, facts, remarks } of cases) {
    assert.deepEqual(factsOf(readDiff(diff)), facts, name);
    assert.deepEqual(remarksOf(facts as DiffFacts), remarks, name);
  }
});

test("a diff is read into rows and pairs", () => {
  const rows = readDiff("@@ -1,3 +1,3 @@\n a\n-b\n+c\n+d\n e\n\\ No newline at end of file\n");
  assert.deepEqual(
    rows.map((row) => row.kind),
    ["hunk", "same", "gone", "added", "added", "same", "end"],
  );
  assert.equal(pairUp(rows).length, 5);
  assert.deepEqual(pairUp(readDiff("@@ -1,2 +1,2 @@\n-a\n+b\n-c\n+d\n")).length, 3, "each change stands beside its own replacement");
});

test("a part in the middle of a diff has the line numbers it is given", () => {
  assert.deepEqual(readDiff(" a\n-b\n+c\n", 41, 51), [
    { kind: "same", old: 41, new: 51, text: "a" },
    { kind: "gone", old: 42, text: "b" },
    { kind: "added", new: 52, text: "c" },
  ]);
});

test("a line ending that is said above is not repeated, and a mark in the file itself stays", () => {
  const row: LineRow = { kind: "added", new: 1, text: "a⟨U+000D⟩" };
  const facts = factsOf([]);
  assert.equal(withoutEnding(row, { ...facts, new_ending: "crlf" }), "a");
  assert.equal(withoutEnding(row, { ...facts, new_ending: "lf" }), "a⟨U+000D⟩");
  assert.equal(withoutEnding(row, { ...facts, new_ending: "mixed" }), "a⟨U+000D⟩");
  assert.equal(withoutEnding({ kind: "same", old: 1, new: 1, text: "a\r" }, { ...facts, old_ending: "crlf", new_ending: "mixed" }), "a\r");
});

test("a missing newline at the end is a change of a whole file", () => {
  assert.deepEqual(remarksOf(factsOf(compareTexts("a", "a\n", true))), ["closed"]);
  assert.equal(
    compareTexts("a", "a\n").every((row) => row.kind === "same"),
    true,
  );
});

test("lines are paired with what replaces them, also across chunks", () => {
  const rows = readDiff("@@ -1,3 +1,3 @@\n-a\n-b\n+c\n+d\n x\n");
  const text = (row: LineRow | undefined) => row?.text;
  const partners = partnersOf(rows, 4, 5);
  assert.equal(text(partners.get(rows[4] as LineRow)), "b");
  const unknown = [...rows.slice(0, 3), undefined, undefined];
  assert.equal(partnersOf(unknown, 0, 3).size, 0, "what isn't here yet could be paired wrongly");
});

test("changed words are marked, and different lines are not", () => {
  assert.deepEqual(changedWords("return a + b", "return a - b"), { old: [[9, 10]], new: [[9, 10]] });
  assert.deepEqual(changedWords("call(name, one two)", "call(name, three four)")?.new, [[11, 21]], "a blank between two changed words belongs to them");
  assert.equal(changedWords("import os", "}"), null);
  assert.equal(changedWords("a", "a"), null);
  assert.equal(changedWords("x".repeat(2000), "y"), null);
});

test("words outside the spans are the same on both sides", () => {
  const next = random(7);
  const word = () => ["a", "b", " ", "(", "ä", "long_name"][Math.floor(next() * 6)] as string;
  for (let round = 0; round < 300; round += 1) {
    const [a, b] = [0, 0].map(() => Array.from({ length: 12 }, word).join("")) as [string, string];
    const found = changedWords(a, b);
    if (!found) continue;
    const without = (text: string, spans: readonly (readonly [number, number])[]) =>
      segmentsOf(text, [], spans)
        .filter((each) => !each.changed)
        .map((each) => each.text)
        .join("");
    assert.equal(without(a, found.old).replace(/\s/g, ""), without(b, found.new).replace(/\s/g, ""), `${a} | ${b}`);
  }
});

test("the pieces of a line are the line", () => {
  const next = random(3);
  for (const line of ['const a = "b"; // c', "⟨U+202E⟩x = `y", "  ", "a".repeat(30)]) {
    const { tokens } = tokenize(line, languageOf("a.ts") as never, null);
    const from = Math.floor(next() * line.length);
    const pieces = segmentsOf(line, tokens, [[from, line.length]]);
    assert.equal(pieces.map((piece) => piece.text).join(""), line);
    assert.equal(
      pieces.some((piece) => piece.mark),
      line.startsWith("⟨"),
    );
  }
});

const kinds = (line: string, path: string) => {
  const language = languageOf(path);
  assert.ok(language, path);
  return tokenize(line, language, null).tokens.map(([from, to, kind]) => `${kind} ${line.slice(from, to)}`);
};

test("the common languages have colors", () => {
  assert.deepEqual(kinds('def f(x): return "a" + 1  # why', "a.py"), ["keyword def", "name f", "keyword return", 'string "a"', "number 1", "comment # why"]);
  assert.deepEqual(kinds("const a = `b`; // c", "a.tsx"), ["keyword const", "string `b`", "comment // c"]);
  assert.deepEqual(kinds('{"a": "b", "c": null}', "a.json"), ['name "a"', 'string "b"', 'name "c"', "keyword null"]);
  assert.deepEqual(kinds("SELECT * FROM t -- x", "a.sql"), ["keyword SELECT", "keyword FROM", "comment -- x"]);
  assert.deepEqual(kinds("name: yes # c", "a.yml"), ["name name", "keyword yes", "comment # c"]);
  assert.deepEqual(kinds("echo $HOME 'a'", "run.sh"), ["number $HOME", "string 'a'"]);
  assert.deepEqual(kinds("fn main() { let a = 'x'; }", "a.rs"), ["keyword fn", "name main", "keyword let", "string 'x'"]);
  assert.deepEqual(kinds("url#fragment", "a.sh"), [], "a # inside a word begins no comment");
  for (const path of ["a.unknown", "constructor", "__proto__", "a.__proto__", ""]) assert.equal(languageOf(path), null, path);
});

test("a comment and a text may go on over lines, separately in the old and the new file", () => {
  const rows = readDiff('@@ -1,4 +1,4 @@\n x = """\n-old\n+new"""\n y = 1\n');
  const language = languageOf("a.py") as never;
  const { tokens, after } = colorRows(rows, (row) => row.text, language, tokenize);
  const kind = (at: number) => tokens.get(rows[at] as LineRow)?.map((each) => each[2]);
  assert.deepEqual(kind(2), ["string"]);
  assert.deepEqual(kind(3), ["string"]);
  assert.deepEqual(kind(4), ["number"]);
  assert.deepEqual(after, { old: null, new: null });
  assert.equal(rowsOf(pairUp(rows)).length, 5);
});

test("hostile lines end", () => {
  for (const line of ["\\".repeat(2000), '"'.repeat(1999), "/*".repeat(900), "<".repeat(2000), "`".repeat(501), "x".repeat(100_000)]) {
    for (const path of ["a.py", "a.ts", "a.html", "a.css", "a.toml", "a.md", "Makefile"]) {
      const { tokens } = tokenize(line, languageOf(path) as never, null);
      let last = 0;
      for (const [from, to] of tokens) {
        assert.ok(from >= last && to > from && to <= line.length, `${path} ${line.slice(0, 10)}`);
        last = to;
      }
    }
  }
});

test("a long diff has chunks, and pages that are fetched", () => {
  assert.equal(chunkCount(250), 3);
  assert.deepEqual(chunkAt(2, 250), { from: 200, to: 250 });
  assert.deepEqual(pagesOf({ from: 900, to: 1100 }), [0, 1000]);
  assert.equal(heightOf([0, 80, 81], 80, 10), 40);
});

test("what isn't here is fetched once, and in its place", async () => {
  const text = `@@ -0,0 +1,3000 @@\n${Array.from({ length: 3000 }, (_, at) => `+line ${at}\n`).join("")}`;
  const lines = text.split("\n");
  const calls: number[] = [];
  const fetch = async (first: number, limit: number) => {
    calls.push(first);
    // As if lines were very long: half of what was wanted.
    return { text: `${lines.slice(first, first + Math.ceil(limit / 2)).join("\n")}\n`, first, old: 0, new: first, lines: 3001 };
  };
  const facts = { ...factsOf([]), lines: 3001, added: 3000 };
  const source = new DiffSource(readDiff(lines.slice(0, 11).join("\n")), facts, fetch);
  assert.equal(source.total, 3001);
  assert.equal(source.isKnown({ from: 0, to: 11 }), true);
  assert.equal(source.isKnown({ from: 2500, to: 2600 }), false);
  source.want({ from: 2500, to: 2600 });
  source.want({ from: 2550, to: 2650 });
  for (let round = 0; round < 50 && !source.isKnown({ from: 2500, to: 2600 }); round += 1) await Promise.resolve();
  await new Promise((done) => setTimeout(done));
  assert.deepEqual(source.rows[2500], { kind: "added", new: 2500, text: "line 2499" });
  assert.equal(calls.filter((first) => first === 2000).length, 1);
  assert.equal(source.prefix, 11);
  assert.equal(source.digits, 4);
});

test("a part that can't be fetched can be tried again", async () => {
  let works = false;
  const fetch = async () => {
    if (!works) throw new Error("offline");
    return { text: "+a\n+b\n", first: 0, old: 0, new: 1, lines: 2 };
  };
  const source = new DiffSource([], { ...factsOf([]), lines: 2, added: 2 }, fetch);
  source.want({ from: 0, to: 2 });
  await new Promise((done) => setTimeout(done));
  assert.equal(source.failed.value, true);
  works = true;
  source.want({ from: 0, to: 2 });
  await new Promise((done) => setTimeout(done));
  assert.equal(source.failed.value, false);
  assert.equal(source.isKnown({ from: 0, to: 2 }), true);
});
