/** Where a session starts: known directories, and paths that are being typed. And how full its context is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf, tokensOf } from "../src/chat/context";
import { isPath, knownOptions, partsOf, wholePath } from "../src/sessions/places";

const WORDS = { project: "project", recent: "recent", own: "own", home: "home" };
const KNOWN = { projects: [{ id: "p_1", name: "shop", path: "/work/shop" }], recent: ["/work/shop", "/tmp/x"], own: "/tmp/x", home: "/home/me" };

test("each known directory is offered once, projects first", () => {
  const found = knownOptions(KNOWN, WORDS, "");
  assert.deepEqual(
    found.map(({ value, detail }) => [value, detail]),
    [
      ["p_1", "/work/shop"],
      ["/tmp/x", "recent"],
      ["/home/me", "home"],
    ],
  );
});

test("what was typed is looked for in names and paths", () => {
  const values = (typed: string) => knownOptions(KNOWN, WORDS, typed).map((option) => option.value);
  assert.deepEqual(values("SHOP"), ["p_1"]);
  assert.deepEqual(values("work"), ["p_1"]);
  assert.deepEqual(values("nothing"), []);
});

test("a path is split into its directory and the start of a name", () => {
  assert.deepEqual(partsOf("/ho", "/home/me"), { path: "/", q: "ho" });
  assert.deepEqual(partsOf("/home/me/", ""), { path: "/home/me", q: "" });
  assert.deepEqual(partsOf("~/pro", "/home/me"), { path: "/home/me", q: "pro" });
  assert.deepEqual(partsOf("~", "/home/me"), { path: "/home/me", q: "" });
  assert.ok(isPath("~") && isPath("/") && !isPath("shop"));
});

test("the hub gets a whole path", () => {
  assert.equal(wholePath("/home/me/", ""), "/home/me");
  assert.equal(wholePath("/", ""), "/");
  assert.equal(wholePath(" ~/x ", "/home/me"), "/home/me/x");
  assert.equal(wholePath("/x", ""), "/x");
});

test("a name that isn't a path is sent as it is, so that the hub can say what is wrong", () => {
  assert.equal(wholePath("shop", ""), "shop");
  assert.equal(wholePath("~/x", ""), "~/x");
  assert.equal(wholePath("~", ""), "~");
  assert.equal(wholePath("~", "/home/me"), "/home/me");
});

test("the context is full by the part of its limit, if there is one", () => {
  assert.deepEqual(contextOf({ context: 50, context_limit: 200 }), { used: 50, limit: 200, part: 0.25 });
  assert.deepEqual(contextOf({ context: 50, context_limit: 0 }), { used: 50, limit: 0, part: null });
  assert.equal(contextOf({}), null);
});

test("tokens of a turn are counted, whatever else is in its usage", () => {
  assert.deepEqual(tokensOf({ usage: { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 3, speed: "x" } }), { input: 3, output: 3 });
  assert.equal(tokensOf({ usage: { input_tokens: "many" } }), null);
});
