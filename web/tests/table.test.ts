/** The page's own keys are those of the table in Python; the keys of choices come with the card. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import cases from "../../tests/model/keys.json";
import { keyed, TABLE } from "../src/cards/table";

test("a key that every card knows means on the page what it means elsewhere", () => {
  const shared = cases.filter((each) => each.on === "any").map(({ act, letter, weight }) => ({ act, letter, weight }));
  assert.deepEqual(TABLE, shared);
});

test("a key is found by its letter", () => {
  assert.equal(keyed("v"), "read");
  assert.equal(keyed("a"), undefined);
});

test("every choice of the table has its place on a card", () => {
  const files = { permission: ["PermissionCard"], plan: ["PlanCard"], form: ["FormCard", "LinkCard"], trust: ["TrustCard"] } as Record<string, string[]>;
  for (const { on, act } of cases) {
    const text = files[on]?.map((file) => readFileSync(`src/cards/${file}.tsx`, "utf8")).join("");
    if (text) assert.match(text, new RegExp(`"${act}"|\\b${act}:`), `${on}: ${act}`);
  }
});
