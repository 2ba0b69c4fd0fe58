/** Texts: filled in, in the right plural, and each of them used. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Catalogue, type Messages } from "../src/messages";

const AREAS = ["page", "compose", "start", "admin", "review", "notifications", "worker"];
const messages = Object.fromEntries(AREAS.map((area) => [area, JSON.parse(readFileSync(`../src/handraise/texts/en/${area}.json`, "utf8")) as Messages]));

function keysOf(message: string | Messages, key: string): string[] {
  if (typeof message === "string" || "other" in message) return [key];
  return Object.entries(message).flatMap(([name, each]) => keysOf(each, `${key}.${name}`));
}

const KEYS = AREAS.flatMap((area) => keysOf(messages[area] as Messages, area));

/** Every key in the code, as a pattern: `${…}` stands for one name. */
function usedKeys(): RegExp[] {
  const files = ["src", "worker"].flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`));
  const code = files.filter((name) => /\.tsx?$/.test(name) && !name.includes("generated")).map((name) => readFileSync(name, "utf8"));
  const literal = new RegExp(`["\`]((?:${AREAS.join("|")})\\.(?:[\\w.]|\\$\\{[^\`]*?\\})+)["\`]`, "g");
  const found = code.flatMap((text) => [...text.matchAll(literal)].map((match) => match[1] ?? ""));
  return [...new Set(found)].map((key) => new RegExp(`^${key.replaceAll(".", "\\.").replace(/\$\{.*?\}(?=$|\\\.)/g, "[^.]+")}$`));
}

test("every text is used", () => {
  const used = usedKeys();
  assert.deepEqual(
    KEYS.filter((key) => !used.some((pattern) => pattern.test(key))),
    [],
  );
});

test("every key in the code has a text", () => {
  assert.deepEqual(
    usedKeys().filter((pattern) => !KEYS.some((key) => pattern.test(key))),
    [],
  );
});

test("a text is filled in once: a value is not read as a text", () => {
  const catalogue = new Catalogue({ page: { hello: "{name} says {what}" } });
  assert.equal(catalogue.say("page.hello", { name: "{what}", what: "hi" }), "{what} says hi");
  assert.equal(catalogue.say("page.nothing"), null);
  assert.equal(catalogue.say("page"), null);
});

test("plurals and numbers follow the language", () => {
  const catalogue = new Catalogue({ page: { lines: { one: "{count} line", other: "{count} lines" } } });
  assert.equal(catalogue.say("page.lines", { count: 1 }), "1 line");
  assert.equal(catalogue.say("page.lines", { count: 12_345 }), "12,345 lines");
  catalogue.use("pl", { page: { lines: { one: "{count} wiersz", few: "{count} wiersze", many: "{count} wierszy", other: "{count} wiersza" } } });
  assert.equal(catalogue.say("page.lines", { count: 3 }), "3 wiersze");
  assert.equal(catalogue.say("page.lines", { count: 5 }), "5 wierszy");
});

test("what is loaded later never replaces another language", () => {
  const catalogue = new Catalogue({ page: {} });
  catalogue.use("de", { admin: { name: "Name!" } });
  catalogue.add("admin", { name: "Name" });
  assert.equal(catalogue.say("admin.name"), "Name!");
});
