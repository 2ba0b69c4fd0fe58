/** Machines come, go and are forgotten; what waits for one is gone once it is settled. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeInstructions, changeMachines, type KnownMachines } from "../src/feed/machines";
import type { Item, MachineSummary } from "../src/feed/model";
import { Timeline } from "../src/feed/timeline";

const ZERO = "2026-01-01T00:00:00Z";
const HERE = { id: "m_1", name: "laptop", version: "1", limit: 8, started_at: ZERO, seen_at: ZERO, away_since: null, sessions: 2, open_asks: 1, here: true } as MachineSummary;
const KNOWN: KnownMachines = new Map([["m_1", HERE]]);
let cursor = 0;
const item = (content: object) => ({ cursor: (cursor += 1), session: "s_1", at: ZERO, ...content }) as unknown as Item;
const changed = (machine: object, forgotten = false) => item({ type: "machine.changed", session: null, machine, forgotten });

test("a machine that goes away keeps what only its own hub knows", () => {
  const { sessions: _sessions, open_asks: _asks, here: _here, ...shown } = HERE;
  const after = changeMachines(KNOWN, changed({ ...shown, away_since: ZERO }));
  assert.deepEqual(after.get("m_1"), { ...HERE, away_since: ZERO });
});

test("a new machine is added, and one that was forgotten is gone", () => {
  const other = { id: "m_2", name: "build-2", away_since: null };
  const two = changeMachines(KNOWN, changed(other));
  assert.equal(two.get("m_2")?.here, false);
  assert.deepEqual([...changeMachines(two, changed(other, true)).keys()], ["m_1"]);
});

test("nothing else changes machines", () => {
  assert.equal(changeMachines(KNOWN, item({ type: "text", text: "", message: "m", parent: null })), KNOWN);
});

test("an instruction waits until it is settled, however that is", () => {
  const given = item({ type: "instruction.given", instruction: "i_1", kind: "stop", value: "", machine: "m_2", by: { kind: "person", name: "ann" }, source: "web" });
  for (const state of ["done", "refused", "withdrawn"]) {
    const waiting = changeInstructions(new Map(), given);
    assert.equal(waiting.get("i_1")?.session, "s_1");
    assert.equal(changeInstructions(waiting, item({ type: "instruction.settled", instruction: "i_1", state, reason: "", result: "" })).size, 0);
  }
});

test("a message that was taken back is neither waiting nor said, and a refusal is in the conversation", () => {
  const timeline = new Timeline();
  timeline.add(item({ type: "said", say: "say-1", text: "Wait", images: 0, by: { kind: "person", name: "ann" }, source: "web" }));
  assert.equal(timeline.waiting.length, 1);
  timeline.add(item({ type: "said.withdrawn", say: "say-1" }));
  assert.deepEqual([timeline.waiting.length, timeline.length], [0, 0]);
  timeline.add(item({ type: "instruction.given", instruction: "i_1", kind: "stop", value: "", machine: "m_2", by: { kind: "person", name: "ann" }, source: "web" }));
  timeline.add(item({ type: "instruction.settled", instruction: "i_1", state: "done", reason: "", result: "" }));
  assert.equal(timeline.length, 0);
  timeline.add(item({ type: "instruction.settled", instruction: "i_1", state: "refused", reason: "It has ended.", result: "" }));
  assert.equal(timeline.blocks[0]?.[0]?.kind, "undone");
});
