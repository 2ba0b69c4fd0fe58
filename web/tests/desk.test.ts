/** What stands together in the inbox, which sessions are shown, and rules in words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sayEntry } from "../src/admin/entries";
import { draftOf as optionsDraft, optionsOf } from "../src/admin/options";
import { usesOf } from "../src/admin/uses";
import type { Ask, Project, Session } from "../src/feed/model";
import type { Entry } from "../src/generated/api";
import { sameOf } from "../src/inbox/same";
import { draftOf, missing, NO_RULE, sentenceOf, subjectOf, toRules } from "../src/rules/draft";
import { compare, countSet, fits, NO_FILTERS } from "../src/sessions/filters";
import { groupOf, stateOf } from "../src/sessions/state";

const permission = (id: string, input: object, more: object = {}) =>
  ({
    id,
    kind: "permission",
    tool: "Bash",
    session: `s_${id}`,
    project: null,
    settlement: null,
    card: { traits: { kind: "shell", path: "" } },
    body: { tool: "Bash", input, description: "", blocked_path: null, diff: null, diff_note: "", offers: [], ...more },
  }) as unknown as Ask;
const session = (more: object) =>
  ({
    id: "s",
    title: "Fix it",
    directory: "/work/shop",
    cost_usd: 0,
    created_at: "2026-01-01T00:00:00Z",
    changed_at: "2026-01-01T10:00:00Z",
    phase: "working",
    mode: "default",
    ended: null,
    stuck_since: null,
    ...more,
  }) as unknown as Session;
const NOW = Date.parse("2026-01-01T12:00:00Z");

test("identical asks stand together, whatever could be allowed for longer", () => {
  const offers = [{ for: "session", scope: "here", rules: [] }];
  const asks = [permission("1", { command: "npm test", description: "x" }), permission("2", { command: "ls" }), permission("3", { description: "x", command: "npm test" }, { offers })];
  assert.deepEqual(
    sameOf(asks).map((same) => same.asks.map((ask) => ask.id)),
    [["1", "3"], ["2"]],
  );
});

test("a change that differs in one letter stands alone", () => {
  const asks = [permission("1", { command: "rm a" }, { diff: "+a" }), permission("2", { command: "rm a" }, { diff: "+b" }), permission("3", { command: "rm а" }, { diff: "+a" })];
  assert.equal(sameOf(asks).length, 3);
});

test("sessions are found by words, project, cost and age", () => {
  const one = session({ cost_usd: 2 });
  assert.ok(fits(one, NO_FILTERS, "", NOW));
  assert.ok(fits(one, { ...NO_FILTERS, words: "npm FIX" }, "Run `npm test`?", NOW));
  assert.ok(!fits(one, { ...NO_FILTERS, words: "nothing" }, "", NOW));
  assert.ok(!fits(one, { ...NO_FILTERS, directory: "/other" }, "", NOW));
  assert.ok(fits(one, { ...NO_FILTERS, cost: 1 }, "", NOW) && !fits(one, { ...NO_FILTERS, cost: 10 }, "", NOW));
  assert.ok(fits(one, { ...NO_FILTERS, hours: 24 }, "", NOW) && !fits(one, { ...NO_FILTERS, hours: 1 }, "", NOW));
  assert.ok(compare(one, session({ cost_usd: 3 }), "cost") > 0);
  assert.equal(countSet({ ...NO_FILTERS, words: "x", cost: 1, hours: 1 }), 2);
});

test("a row never lies", () => {
  const queued = session({ phase: "queued", created_at: "2026-01-01T11:00:00Z" });
  assert.equal(stateOf(queued, [], [queued, session({ phase: "queued" })], NOW), "queued behind 1");
  assert.equal(stateOf(session({ stuck_since: "2026-01-01T11:59:30Z" }), [], [], NOW), "answered; no response from Claude for 30 s");
  const failed = session({ ended: { how: "failed", reason: "", at: "2026-01-01T11:00:00Z", exit_code: 1, by: null } });
  assert.equal(groupOf(failed, [], NOW), "failed");
  assert.equal(groupOf(failed, [], NOW + 3 * 86_400_000), "ended");
});

test("a rule is drafted from an ask, and said in words before it is granted", () => {
  const rule = { tool: "Bash", command: "npm run *", path: null, server: null };
  const ask = permission(
    "1",
    { command: "npm run build" },
    {
      offers: [
        { for: "session", scope: "", rules: [rule] },
        { for: "always", scope: "", rules: [rule, { ...rule, command: "tee *" }] },
      ],
    },
  );
  const projects = [{ id: "p", name: "shop", path: "/work/shop" }] as unknown as Project[];
  const draft = draftOf(ask, session({}), projects);
  assert.deepEqual(draft, { ...NO_RULE, tool: "Bash", commands: "npm run *\ntee *", project: "p" });
  assert.equal(
    sentenceOf(draft, () => "in the project shop"),
    "Allow commands like `npm run *` and `tee *` in the project shop without asking.",
  );
  assert.deepEqual(toRules(draft, NOW), [
    { decision: "allow", tool: "Bash", project: "p", command: "npm run *" },
    { decision: "allow", tool: "Bash", project: "p", command: "tee *" },
  ]);
  const deny = { ...draft, decision: "deny" as const, message: "No.", seconds: 3600 };
  assert.equal(
    sentenceOf(deny, () => "everywhere"),
    "Deny commands like `npm run *` and `tee *` everywhere without asking, and tell Claude: “No.” Expires after 1 hour.",
  );
  assert.equal(toRules(deny, NOW)[0]?.expires_at, "2026-01-01T13:00:00.000Z");
  assert.ok(missing(NO_RULE));
});

test("what a rule is about cannot be mistaken for our own words", () => {
  assert.equal(subjectOf({ decision: "allow", command: "x` everywhere `y" }), "commands like `xˋ everywhere ˋy`");
  assert.equal(subjectOf({ decision: "allow", tool: "mcp__x", server: "git\u202e" }), "the tool `mcp__x` from the server `git⟨U+202E⟩` with any input");
});

test("a file's rule is drafted from its path inside the project", () => {
  const card = { traits: { kind: "edit", path: "file_path" } };
  const ask = { ...permission("1", { file_path: "/work/shop/src/a.js" }), tool: "Edit", card } as unknown as Ask;
  (ask.body as unknown as { tool: string }).tool = "Edit";
  assert.equal(draftOf(ask, session({}), []).path, "src/a.js");
});

test("options of a project survive the form", () => {
  const options = {
    mode: "plan",
    model: null,
    allowed_tools: ["Read"],
    append_system_prompt: null,
    add_dirs: [],
    sandbox: "required",
    ask_user_enabled: false,
    ask_user_timeout: 60,
    patience: { question: 5, permission: null, plan: null, form: null, trust: 7 },
    parallel: 2,
    cost_limit_usd: 1.5,
    rules: [{ decision: "deny" as const, tool: "X" }],
  };
  assert.deepEqual(optionsOf(optionsDraft(options), options.rules), options);
  assert.deepEqual(optionsDraft({}).patience, { question: "", permission: "", plan: "", form: "", trust: "" });
});

test("the uses of a rule are counted, several for one command", () => {
  const ruled = (rule: string, at: string) => ({ settlement: { state: "answered", at, by: { kind: "rule", rule, name: "" } } }) as unknown as Ask;
  const uses = usesOf([ruled("a, b", "2"), ruled("a", "1"), permission("1", {})]);
  assert.deepEqual(
    [...uses],
    [
      ["a", { count: 2, last: "2" }],
      ["b", { count: 1, last: "2" }],
    ],
  );
});

test("an entry of the audit is said in a few words, and hostile ones stay quoted", () => {
  const entry = (detail: object) => sayEntry({ detail } as unknown as Entry);
  assert.equal(entry({ kind: "permission", tool: "Bash", answer: { allow: true, for: "always" } }), "allowed always · `Bash`");
  assert.equal(entry({ kind: "question", tool: "AskUserQuestion", answer: { answers: [{ labels: ["A"], text: "b" }] } }), "A, b · `AskUserQuestion`");
  assert.equal(entry({ tool: "x`y", answer: { allow: false, message: "no" } }), "denied: “no” · `xˋy`");
  assert.equal(entry({}), "Details");
});
