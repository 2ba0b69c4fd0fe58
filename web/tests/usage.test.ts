/** A usage limit in words: how much is used, and when it starts again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { usageInWords } from "../src/sessions/usage";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const limit = (fields: object) => ({ window: "five_hour", used: 0.42, resets_at: "2026-01-01T14:00:00Z", reached: false, ...fields });

test("a limit says how much is used and when it resets", () => {
  assert.equal(usageInWords(limit({}), NOW), "5-hour limit: 42% used, resets in 2 h");
  assert.equal(usageInWords(limit({ window: "seven_day", reached: true }), NOW), "Weekly limit: used up, resets in 2 h");
  assert.equal(usageInWords(limit({ window: "overage", used: null }), NOW), "Extra usage: resets in 2 h");
});

test("a limit that has started again, or never says when, is not shown", () => {
  assert.equal(usageInWords(limit({ resets_at: "2026-01-01T12:00:00Z" }), NOW), "");
  assert.equal(usageInWords(limit({ resets_at: null }), NOW), "");
  assert.equal(usageInWords(limit({ resets_at: "soon" }), NOW), "");
});

test("an unknown limit is named as Claude names it, without hidden text", () => {
  assert.equal(usageInWords(limit({ window: "constructor" }), NOW), "constructor: 42% used, resets in 2 h");
  assert.ok(!usageInWords(limit({ window: "a\u202eb_c" }), NOW).includes("\u202e"));
});
