/** Times and amounts, as English writes them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { countdown, dollars, listed, moment, percent, span } from "../src/text/times";

test("a duration is given in its largest unit", () => {
  assert.deepEqual([0, 59_999, 60_000, 7_200_000, 5 * 86_400_000].map(span), ["0 s", "59 s", "1 min", "2 h", "5 d"]);
  assert.equal(countdown(3_729_000), "1:02:09");
});

test("a date has its day when it is not today, and its year when it is not this one", () => {
  const now = new Date(2026, 10, 17, 12);
  assert.doesNotMatch(moment(new Date(2026, 10, 17, 9, 5).toISOString(), now), /Nov|17|2026/);
  assert.match(moment(new Date(2026, 10, 4, 9, 5).toISOString(), now), /^Nov 4, /);
  assert.match(moment(new Date(2024, 2, 3, 9, 5).toISOString(), now), /^Mar 3, 2024, /);
});

test("amounts and lists are written by locale", () => {
  assert.deepEqual([0, 0.001, 0.4, 1234.5].map(dollars), ["$0", "< $0.01", "$0.40", "$1,234.50"]);
  assert.equal(percent(0.3), "30%");
  assert.equal(listed(["a", "b", "c"]), "a, b, and c");
});
