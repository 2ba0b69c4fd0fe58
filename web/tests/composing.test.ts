/** What is typed into the composer: completions, earlier messages and attached files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { commandsFor, completingAt, insert, isTaken } from "../src/chat/completing";
import { safeName, sizeOf, textOf, withFiles } from "../src/chat/files";
import { historyOf, leavesText, step } from "../src/chat/recall";

const at = (text: string) => {
  const caret = text.indexOf("|");
  return completingAt(text.replace("|", ""), caret);
};

test("a slash completes a command only at the start of a message", () => {
  assert.deepEqual(at("/com|"), { kind: "command", typed: "com", from: 0, to: 4 });
  assert.deepEqual(at("/|"), { kind: "command", typed: "", from: 0, to: 1 });
  assert.deepEqual(at("/co|mpact now"), { kind: "command", typed: "co", from: 0, to: 8 });
  for (const text of ["look at /com|", " /com|", "/compact |", "a/b|", "1/2|", "|/com"]) assert.equal(at(text), null, text);
});

test("an at sign completes a file after a blank or a bracket, never in an address", () => {
  assert.deepEqual(at("see @src/a|"), { kind: "file", typed: "src/a", from: 4, to: 10 });
  assert.deepEqual(at("(@|"), { kind: "file", typed: "", from: 1, to: 2 });
  assert.deepEqual(at('@"my fi|'), { kind: "file", typed: "my fi", from: 0, to: 7 });
  assert.deepEqual(at("one\n@x|"), { kind: "file", typed: "x", from: 4, to: 6 });
  for (const text of ["me@example.com|", "@a b|", '@"a"|', "@a |"]) assert.equal(at(text), null, text);
});

test("commands that start with it come first, then those that have it, then descriptions", () => {
  const named = (name: string, description = "") => ({ name, description, hint: "" });
  const all = [named("recompact"), named("Compact"), named("x", "compacts things"), named("other")];
  assert.deepEqual(
    commandsFor(all, "comp").map((each) => each.name),
    ["Compact", "recompact", "x"],
  );
  assert.equal(commandsFor(all, "").length, 4);
  assert.equal(commandsFor(all, "zzz").length, 0);
});

test("a command that was typed is sent as it is, even if others look like it", () => {
  const typed = (text: string, value: string) => {
    const found = completingAt(text, text.length);
    assert.ok(found);
    return isTaken(found, value);
  };
  assert.ok(typed("/comp", "compact"));
  assert.ok(typed("/COMP", "compact"));
  assert.ok(!typed("/compact", "compact"));
  assert.ok(!typed("/cost", "usage"));
  assert.ok(!typed("/compact", "recompact"));
  assert.ok(typed("@app", "src/app.ts"));
});

const put = (text: string, value: string) => {
  const found = at(text);
  assert.ok(found);
  const [next, caret] = insert(text.replace("|", ""), found, value);
  return `${next.slice(0, caret)}|${next.slice(caret)}`;
};

test("a choice replaces the whole word, and the caret is after it", () => {
  assert.equal(put("/co|", "compact"), "/compact |");
  assert.equal(put("/co| now", "compact"), "/compact |now");
  assert.equal(put("see @sr|c.py please", "src/app.py"), "see @src/app.py |please");
  assert.equal(put("@s|", "src/"), "@src/|");
  assert.equal(put("@m|", "my file.txt"), '@"my file.txt" |');
  assert.equal(put("@m|", "my dir/"), '@"my dir/|');
  assert.equal(put('@"my dir/f|', "my dir/file.txt"), '@"my dir/file.txt" |');
});

test("the up arrow goes back through what was said, and forward to what was not sent", () => {
  const history = historyOf(["one", "two", "two", " ", "three"]);
  assert.deepEqual(history, ["three", "two", "one"]);
  const first = step(history, null, "draft", 1);
  assert.equal(first?.text, "three");
  const second = step(history, first?.recall ?? null, "three", 1);
  assert.equal(second?.text, "two");
  const third = step(history, second?.recall ?? null, "two", 1);
  assert.equal(step(history, third?.recall ?? null, "one", 1), null);
  const back = step(history, second?.recall ?? null, "two", -1);
  assert.equal(back?.text, "three");
  assert.deepEqual(step(history, back?.recall ?? null, "three", -1), { recall: null, text: "draft" });
  assert.equal(step(history, null, "draft", -1), null);
  // Changed: it is a new message, and what is unsent.
  assert.equal(step(history, second?.recall ?? null, "two!", 1)?.recall?.unsent, "two!");
});

test("an arrow moves the caret unless that is at the start, or the message is an unchanged earlier one", () => {
  assert.ok(leavesText("", 0, 0, false));
  assert.ok(leavesText("text", 0, 0, false));
  assert.ok(leavesText("text", 4, 4, true));
  assert.ok(!leavesText("text", 4, 4, false));
  assert.ok(!leavesText("text", 0, 4, true));
});

test("files become part of the message, and can't end their own fence", () => {
  const title = (name: string) => `File: ${name}`;
  assert.equal(withFiles("Look", [{ name: "a.txt", text: "x\n" }], title), "Look\n\nFile: a.txt\n```\nx\n```");
  assert.equal(withFiles("", [{ name: "a.md", text: "````\nend" }], title), "File: a.md\n`````\n````\nend\n`````");
  assert.equal(withFiles("Look", [], title), "Look");
});

test("names are one harmless line", () => {
  assert.equal(safeName("a\u202eb`c\n.txt"), "abc.txt");
  assert.equal(safeName("\n"), "file.txt");
  assert.equal(safeName("x".repeat(500)).length, 120);
});

test("only text is text", () => {
  const bytes = (...values: number[]) => new Uint8Array(values).buffer;
  assert.equal(textOf(bytes(104, 105)), "hi");
  assert.equal(textOf(bytes(0xff, 0xfe)), null);
  assert.equal(textOf(bytes(104, 0)), null);
  assert.deepEqual([sizeOf(12), sizeOf(262_144), sizeOf(1_048_576)], ["12 B", "256 KB", "1 MB"]);
});
