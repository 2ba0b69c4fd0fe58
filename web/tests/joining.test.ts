/** An action and its permission are one line once Claude has the answer. */
import assert from "node:assert/strict";
import test from "node:test";
import { isJoined } from "../src/feed/joining";
import type { Ask } from "../src/feed/model";

const answered = (answer: object, delivered_at: string | null = "2030-01-01T00:00:00Z", kind = "permission") => ({ kind, delivered_at, settlement: { state: "answered", answer } }) as unknown as Ask;

test("what was allowed and delivered is the action's line", () => {
  assert.equal(isJoined(answered({ allow: true })), true);
});

test("everything else keeps a line of its own", () => {
  assert.equal(isJoined(answered({ allow: true }, null)), false);
  assert.equal(isJoined(answered({ allow: false })), false);
  assert.equal(isJoined(answered({ approve: true }, "2030-01-01T00:00:00Z", "plan")), false);
  assert.equal(isJoined({ kind: "permission", delivered_at: null, settlement: null } as unknown as Ask), false);
  assert.equal(isJoined(undefined), false);
});
