/** Rows that can't show Markdown show its words, as the hub's do. */
import assert from "node:assert/strict";
import test from "node:test";
import table from "../../tests/model/plain_lines.json";
import { firstPlainLine, plainLine } from "../src/text/plainLine";

test("a line without its signs, as the hub makes it", () => {
  for (const [line, plain] of table as [string, string][]) assert.equal(plainLine(line), plain);
});

test("the first line that says something", () => {
  assert.equal(firstPlainLine("\n---\n```python\n# Title\n"), "Title");
  assert.equal(firstPlainLine("\n \n"), "");
});
