/** Stages, lines, choices, forms and diffs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lineOf } from "../src/cards/Line";
import { stageOf } from "../src/cards/stage";
import { fill, firstDraft, readFields } from "../src/cards/schema";
import { choicesOf, isAnswered } from "../src/cards/choices";
import { count } from "../src/admin/numbers";
import { compareTexts } from "../src/text/diff";
import type { Answered, Ask, Permission, Prompt, Settlement } from "../src/feed/model";

const permission = (tool: string, input: Record<string, unknown>, diff: string | null = null) =>
  ({ tool, input, description: "", diff, diff_note: "", offers: [], suggestions: [], suggestions_in_words: [] }) as unknown as Permission;
const ask = (body: Permission, settlement: Settlement | null = null) => ({ id: "a", kind: "permission", state: settlement?.state ?? "open", body, settlement, delivered_at: null }) as unknown as Ask;

test("a stage tells the truth about an answer on its way", () => {
  const open = ask(permission("Bash", {}));
  const answer = { allow: true, for: "once" } as const;
  assert.equal(stageOf(open, undefined).is, "open");
  assert.equal(stageOf(open, { state: "queued", reason: null, answer }).is, "queued");
  assert.deepEqual(stageOf(open, { state: "refused", answer, message: "no" }), { is: "open", trouble: "no" });
  const first: Settlement = { state: "answered", answer: { allow: false, message: "", interrupt: false }, by: { kind: "person", name: "bob", seat: "" }, from: "telegram", at: "t" };
  assert.equal(stageOf(ask(permission("Bash", {}), first), { state: "sent", answer }).is, "answered"); // lesson 30
});

test("a line is the hub's words, from where, and whether Claude has it", () => {
  const settled = { ...ask(permission("Bash", {}), null), card: { headline: "Run `ls`?", outcome: { text: "bob denied `ls`", yours: "You denied `ls`" } } } as unknown as Ask;
  const settlement: Answered = {
    state: "answered",
    answer: { allow: false, message: "", interrupt: false },
    by: { kind: "person", name: "bob", seat: "" },
    from: "telegram",
    at: new Date().toISOString(),
  };
  assert.match(lineOf(settled, { is: "answered", settlement, delivered: true, trouble: null }), /^bob denied `ls` · telegram · .* · delivered$/);
  assert.equal(lineOf(settled, { is: "open", trouble: null }), "Run `ls`?");
});

const PROMPT = (multi: boolean): Prompt => ({
  question: "q",
  header: "",
  options: [
    { label: "A", description: "", preview: null },
    { label: "B", description: "", preview: null },
  ],
  multi_select: multi,
});

test("text that was left behind by choosing an option is not sent", () => {
  // lessons 35, 36
  const given = [{ labels: ["A"], other: false, text: "draft" }];
  assert.deepEqual(choicesOf([PROMPT(false)], given), { answers: [{ labels: ["A"], text: null }] });
  assert.equal(isAnswered(PROMPT(false), { labels: [], other: true, text: "  " }), false);
  assert.deepEqual(choicesOf([PROMPT(true)], [{ labels: ["B", "A"], other: true, text: " own " }]), { answers: [{ labels: ["A", "B"], text: "own" }] });
});

test("a form is checked before it is sent", () => {
  const fields = readFields({
    properties: {
      street: { type: "string", title: "Street", minLength: 2 },
      floor: { type: "integer", minimum: 0, maximum: 99, default: 0 },
      lift: { type: "boolean", default: false },
      door: { enum: ["left", "right"], default: "left" },
      mail: { type: "string", format: "email" },
      tags: { type: "array", items: { enum: ["x", "y"] }, maxItems: 1 },
    },
    required: ["street"],
  });
  const draft = firstDraft(fields);
  assert.deepEqual(fill(fields, draft), { wrong: { street: "Street is required." } });
  assert.deepEqual(Object.keys((fill(fields, { ...draft, street: "S", floor: "1.5", mail: "no", tags: ["x", "y"] }) as { wrong: object }).wrong), ["street", "floor", "mail", "tags"]);
  assert.deepEqual(fill(fields, { ...draft, street: "Main 1", floor: "3" }), { content: { street: "Main 1", floor: 3, lift: false, door: "left" } });
});

test("every kind of field is what its schema says, and goes back as it came", () => {
  const fields = readFields({
    properties: {
      size: { enum: [1, 2], enumNames: ["small", "large"] },
      colour: {
        oneOf: [
          { const: "r", title: "Red" },
          { const: "g", title: "Green" },
        ],
      },
      regions: { type: "array", items: { anyOf: [{ const: "eu", title: "Europe" }, { const: "us" }] }, minItems: 1 },
      price: { type: "number", minimum: 0.5 },
      site: { type: "string", format: "uri" },
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time", default: "2026-03-01T12:00:00Z" },
      more: { type: "object", default: { a: 1 } },
    },
  });
  assert.deepEqual(
    fields.map((field) => field.shape.kind),
    ["one", "one", "several", "number", "text", "text", "text", "other"],
  );
  const draft = { ...firstDraft(fields), size: "2", colour: "g", regions: ["eu"], price: "0.75", site: "https://example.org/a", day: "2026-03-01" };
  const content = { size: 2, colour: "g", regions: ["eu"], price: 0.75, site: "https://example.org/a", day: "2026-03-01", at: "2026-03-01T12:00:00.000Z", more: { a: 1 } };
  assert.deepEqual(fill(fields, draft), { content });
  const wrong = fill(fields, { ...draft, price: "0.1", site: "nowhere", day: "tomorrow", at: "soon", more: "{" }) as { wrong: object };
  assert.deepEqual(Object.keys(wrong.wrong), ["price", "site", "day", "at", "more"]);
});

test("two texts are compared line by line", () => {
  const kinds = (before: string, after: string) => compareTexts(before, after).map((row) => ("text" in row ? `${row.kind[0]} ${row.text}` : ""));
  assert.deepEqual(kinds("a\nb\nc\n", "a\nx\nc\n"), ["s a", "g b", "a x", "s c"]);
  assert.deepEqual(kinds("a\nb\nc\nd", "b\nx\nd"), ["g a", "s b", "g c", "a x", "s d"]);
  assert.deepEqual(kinds("", "one\ntwo\n"), ["a one", "a two"]);
  assert.equal(compareTexts("a\n".repeat(5000), "b\n".repeat(5000)).length, 10_000);
});

test("numbers count people and rules apart", () => {
  const now = Date.parse("2026-01-02T12:00:00Z");
  const by = (kind: string): Settlement => ({ state: "answered", answer: { outline: true }, by: { kind, name: "x", rule: "r" } as never, from: "web", at: "2026-01-02T11:00:10Z" });
  const ask = { opened_at: "2026-01-02T11:00:00Z" };
  const numbers = count(
    [
      { ...ask, settlement: by("person") },
      { ...ask, settlement: by("rule") },
    ] as unknown as Ask[],
    now,
  );
  assert.equal(numbers.byRule, 1);
  assert.equal(numbers.median, 10_000);
  assert.equal(numbers.waited, 10_000);
  assert.deepEqual(numbers.days.at(-1), { day: numbers.days.at(-1)?.day, people: 1, rules: 1, waited: 10_000 });
});
