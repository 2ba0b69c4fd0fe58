/** Items become entries: said when taken, actions with their ends, sub-agents inside, history put first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../src/feed/model";
import { Timeline, type ActionEntry } from "../src/feed/timeline";

let cursor = 0;
const item = (content: object) => ({ cursor: ++cursor, session: "s", at: "2026-01-01T00:00:00Z", ...content }) as unknown as Item;
const started = (action: string, tool = "Bash", parent: string | null = null, input = {}) =>
  item({ type: "action.started", action, tool, kind: "command", title: action, input, parent, traits: { only_reads: tool === "Read" } });
const ended = (action: string) => item({ type: "action.ended", action, kind: "command", title: action, ok: true, output: "", omitted: 0, images: 0, parent: null });
const text = (words: string) => item({ type: "text", text: words, message: "m", parent: null });
const kinds = (timeline: Timeline) => timeline.blocks.flat().map((entry) => entry.kind);

test("what was said waits until it is taken, and then stands where it was taken", () => {
  const timeline = new Timeline([item({ type: "said", say: "1", text: "hi" }), text("working")]);
  assert.equal(timeline.waiting.length, 1);
  timeline.add(item({ type: "said.taken", say: "1" }));
  assert.equal(timeline.waiting.length, 0);
  assert.deepEqual(kinds(timeline), ["text", "said"]);
});

test("an action ends in its own place, wherever it is nested", () => {
  const timeline = new Timeline([started("outer", "Agent"), text("meanwhile"), started("inner", "Read", "outer"), started("deep", "Bash", "inner"), ended("deep"), ended("outer")]);
  const outer = timeline.blocks[0]?.[0] as ActionEntry;
  const inner = outer.inside[0] as ActionEntry;
  const deep = inner.inside[0] as ActionEntry;
  assert.ok(outer.ended && deep.ended);
  assert.equal(inner.ended, null);
  assert.deepEqual(kinds(timeline), ["action", "text"]);
});

test("an end without a beginning is shown, and goes into its place when history comes", () => {
  const history = [started("a")];
  const late = [ended("a"), text("later")];
  assert.deepEqual(kinds(new Timeline(late)), ["orphan", "text"]);
  assert.deepEqual(kinds(new Timeline([...history, ...late])), ["action", "text"]);
});

test("an ask stands for the action that it is about", () => {
  const timeline = new Timeline([started("a", "Write", null, { file_path: "x" }), started("b", "Write", null, { file_path: "y" })]);
  timeline.add(item({ type: "ask.opened", ask: { id: "a_1", kind: "permission", tool: "Write", tool_use: "a", body: { tool: "Write", input: { file_path: "x" } } } }));
  const [first, second] = timeline.blocks[0] as [ActionEntry, ActionEntry];
  assert.equal(first.ask, "a_1");
  assert.equal(second.ask, null);
});

test("a block that did not change is the very same array", () => {
  const timeline = new Timeline(Array.from({ length: 100 }, (_, at) => text(String(at))));
  const before = timeline.blocks;
  timeline.add(text("more"));
  assert.equal(timeline.blocks[0], before[0]);
  assert.notEqual(timeline.blocks.at(-1), before.at(-1));
});

test("history that is put first leaves the blocks that were drawn as they are", () => {
  const older = Array.from({ length: 30 }, (_, at) => text(`old ${at}`));
  const newer = Array.from({ length: 60 }, (_, at) => text(`new ${at}`));
  const drawn = new Timeline(newer);
  const whole = new Timeline([...older, ...newer], drawn);
  assert.equal(whole.length, 90);
  whole.blocks.slice(-drawn.blocks.length).forEach((block, at) => assert.equal(block, drawn.blocks[at]));
});

test("history that completes an action draws that action again, and nothing else", () => {
  const older = [started("a"), text("before")];
  const newer = [text("one"), started("b"), ended("a"), text("two")];
  const drawn = new Timeline(newer);
  const whole = new Timeline([...older, ...newer], drawn);
  assert.deepEqual(kinds(whole), ["action", "text", "text", "action", "text"]);
  assert.equal(whole.blocks.at(-1)?.[0], drawn.blocks[0]?.[0]);
  assert.equal(whole.blocks.at(-1)?.at(-1), drawn.blocks[0]?.at(-1));
  whole.add(ended("b"));
  assert.ok((whole.blocks.at(-1)?.[1] as ActionEntry | undefined)?.ended);
});

test("ten thousand items are read at once", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => (at % 2 ? ended(`t${at - 1}`) : started(`t${at}`)));
  const began = performance.now();
  assert.equal(new Timeline(many).length, 5000);
  assert.ok(performance.now() - began < 2000);
});

test("a block is small, and a run of reads stays in one", () => {
  const timeline = new Timeline([text("first"), ...Array.from({ length: 12 }, (_, at) => started(`r${at}`, "Read")), ...Array.from({ length: 12 }, () => text("more"))]);
  assert.equal(timeline.blocks[0]?.length, 13);
  assert.deepEqual(
    timeline.blocks.slice(1).map((block) => block.length),
    [6, 6],
  );
});

test("tries to reach the model, and an error with the words that say it, are not torn apart", () => {
  const retry = () => item({ type: "notice", level: "warning", text: "again", about: "retry" });
  const timeline = new Timeline([
    ...Array.from({ length: 5 }, () => text("before")),
    ...Array.from({ length: 9 }, retry),
    text("no luck"),
    item({ type: "turn.ended", is_error: true, error: "no luck" }),
  ]);
  assert.deepEqual(
    timeline.blocks.map((block) => block.map((entry) => entry.kind).filter((kind, at, all) => kind !== all[at - 1])),
    [
      ["text", "notice"],
      ["text", "turn"],
    ],
  );
});

test("an edited action shows what runs, and who edited it", () => {
  const items = [
    started("a", "Bash", null, { command: "rm -r /" }),
    item({ type: "action.changed", action: "a", title: "ls", input: { command: "ls" }, by: { kind: "person", name: "ana" } }),
    ended("a"),
  ];
  const timeline = new Timeline(items);
  const [action] = timeline.blocks[0] as [ActionEntry];
  assert.deepEqual([action.started.title, action.started.input, action.editor], ["ls", { command: "ls" }, "ana"]);
  assert.ok(action.ended);
  assert.equal(new Timeline([text("before"), ...items], timeline).blocks.flat()[1], action, "drawn, it stays as it is");
});

test("a denied action shows why, and what became of it", () => {
  const denied = item({ type: "action.denied", action: "a", title: "up", tool: "Bash", reason: "It sends data away.", cause: "classifier", allowable_until: null, parent: null });
  const allowed = item({ type: "denial.changed", action: "a", state: "allowed", by: { kind: "person", name: "ana" }, note: "" });
  const checking = item({ type: "action.checked", action: "a", checking: true });
  const items = [started("a", "Bash", null, { command: "up" }), checking];
  const timeline = new Timeline(items);
  const [slow] = timeline.blocks[0] as [ActionEntry];
  assert.equal(slow.checking, true);
  for (const each of [denied, ended("a"), allowed, item({ type: "denial.changed", action: "unknown", state: "over", by: null, note: "" })]) timeline.add(each);
  const [action] = timeline.blocks[0] as [ActionEntry];
  assert.deepEqual([action.checking, action.denial?.item, action.denial?.change], [false, denied, allowed]);
});

test("what a command of Claude Code replies stands below the command", () => {
  const timeline = new Timeline([item({ type: "said", say: "9", text: "/cost" }), item({ type: "turn.started", turn: 2 }), text("Total cost: $1"), item({ type: "said.taken", say: "9" })]);
  assert.deepEqual(kinds(timeline), ["said", "text"]);
  assert.equal(timeline.waiting.length, 0);
});

test("a request knows whether its action is here", () => {
  const opened = item({ type: "ask.opened", ask: { id: "a_1", kind: "permission", tool: "Bash", tool_use: "a", body: {} } });
  const joins = (timeline: Timeline) => timeline.blocks.flat().flatMap((entry) => (entry.kind === "ask" ? [entry.joins] : []));
  assert.deepEqual(joins(new Timeline([started("a"), opened])), [true]);
  assert.deepEqual(joins(new Timeline([opened])), [false]);
});
