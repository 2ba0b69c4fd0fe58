/** What the worker makes of a push, and of what the hub says to an answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { describe } from "../src/device";
import { isDelivered, isMeant, readNotice, truth, type AskNotice, type Offered } from "../worker/notices";

const OFFERED: Offered = { name: "yes", title: "Allow once", done: "Allowed", answer: { allow: true } };
const NOTICE: AskNotice = { kind: "ask", device: "d_1", ask: "a_1", digest: "sha256:1", title: "Run npm test?", body: "", path: "/", waiting: 1, answers: [OFFERED] };
const refused = (message: string, settlement: unknown = null) => ({ error: { code: "x", message, settlement } });
const outcome = (status: number, reply: unknown) => truth(NOTICE, OFFERED, status, reply);

test("what is not known is nothing", () => {
  assert.equal(readNotice(null), null);
  assert.equal(readNotice("ask"), null);
  assert.equal(readNotice({ kind: "tomorrow" }), null);
  assert.deepEqual(readNotice(NOTICE), NOTICE);
});

test("an answer that counted says whether Claude took it", () => {
  assert.deepEqual(outcome(200, { delivered_at: null }), { title: "Allowed · waiting for Claude", body: "Run npm test?", settled: true });
  assert.equal(outcome(200, { delivered_at: "2030-01-01T00:00:00Z" }).title, "Allowed · delivered");
  assert.equal(outcome(202, {}).title, "Allowed, late · sent to Claude as a follow-up");
  assert.equal(isDelivered(null), false);
});

test("an answer that did not count says why, and whether an answer is still needed", () => {
  assert.deepEqual(outcome(409, refused("Ana was first.", { state: "answered" })), { title: "Already answered", body: "Ana was first. Your answer wasn't used.", settled: true });
  assert.deepEqual(outcome(409, refused("Look again.")), { title: "Not answered", body: "Look again. Tap to review it.", settled: false });
  assert.deepEqual(outcome(410, refused("No longer needed: stopped.")), { title: "No longer needed", body: "No longer needed: stopped. Your answer wasn't used.", settled: true });
  assert.equal(outcome(401, refused("Log in.")).title, "Not sent");
  assert.equal(outcome(403, refused("Only approvers.")).body, "Only approvers. Tap to review it.");
});

test("nothing is called done that the hub did not confirm", () => {
  for (const [status, reply] of [
    [0, null],
    [500, null],
    [502, "x"],
    [418, refused("?")],
  ] as [number, unknown][]) {
    assert.deepEqual(outcome(status, reply), { title: "Couldn't send it", body: "The hub didn't confirm it. Tap to open it.", settled: false });
  }
});

test("a tap counts once the notice has stood there for a second", () => {
  const grant: Offered = { ...OFFERED, weight: "grant" };
  assert.equal(isMeant(grant, 1000, 1999), false);
  assert.equal(isMeant(grant, 1000, 2000), true);
  assert.equal(isMeant({ ...OFFERED, weight: "answer" }, 1000, 1999), false);
  assert.equal(isMeant({ ...OFFERED, weight: "refuse" }, 1000, 1001), true);
});

test("what does not say when it was shown, or what it does, grants nothing", () => {
  assert.equal(isMeant({ ...OFFERED, weight: "grant" }, undefined, 9999), false);
  assert.equal(isMeant(OFFERED, 1000, 1999), false);
});

test("a browser is called what a person would call it", () => {
  const names: [string, string][] = [
    ["Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36", "Chrome on Android"],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15", "Safari on Mac"],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0", "Edge on Windows"],
    ["something else", "Browser"],
  ];
  for (const [agent, name] of names) assert.equal(describe(agent), name);
});
