/** The page's table of keys is the same as Python's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "../../tests/model/keys.json";
import { keyed, TABLE } from "../src/cards/table";

test("every key means on the page what it means elsewhere", () => assert.deepEqual(TABLE, cases));

test("a key is found by its letter and by its digit", () => {
  assert.equal(keyed("permission", "w")?.act, "always");
  assert.equal(keyed("plan", "5")?.act, "revise");
  assert.equal(keyed("plan", "s"), undefined);
  assert.equal(keyed("form", "j")?.act, "next");
});
