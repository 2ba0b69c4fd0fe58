/** What a search is narrowed down to, as the hub is asked for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NOT_NARROWED, parametersOf } from "../src/search/narrowed";

const NOW = Date.UTC(2026, 2, 10, 12);

test("nothing is asked for that wasn't chosen", () => {
  assert.deepEqual(parametersOf(NOT_NARROWED, NOW), {});
  assert.deepEqual(parametersOf({ ...NOT_NARROWED, from: "2026-01-01" }, NOW), {});
});

test("the last days end now, and dates include both of their days", () => {
  assert.deepEqual(parametersOf({ ...NOT_NARROWED, time: "week", state: "ended" }, NOW), { since: "2026-03-03T12:00:00.000Z", state: "ended" });
  const dates = parametersOf({ ...NOT_NARROWED, time: "dates", from: "2026-03-01", to: "2026-03-01", by: "ann" }, NOW);
  assert.equal(Date.parse(dates["until"] ?? "") - Date.parse(dates["since"] ?? ""), 24 * 3600 * 1000);
  assert.equal(dates["by"], "ann");
  for (const odd of ["", "soon", "999999-99-99"]) assert.deepEqual(parametersOf({ ...NOT_NARROWED, time: "dates", from: odd }, NOW), {});
});
