/** What was on the screen, whether a card moved, and what an answer weighs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../src/feed/model";
import { gaps, NOTHING_YET, resize, show } from "../src/hands/cover";
import { compare, type Shape } from "../src/hands/shape";
import { weightOf } from "../src/hands/weight";
import { random } from "./random";

const tall = resize(NOTHING_YET, 600, 1000);

test("what was on the screen from top to end is seen", () => {
  assert.deepEqual(gaps(show(show(show(tall, 0, 400), 380, 780), 700, 1200)), []);
});

test("the end alone is not all of it", () => {
  assert.deepEqual(gaps(show(tall, 600, 1000)), [[0, 600]]);
});

test("a jump leaves a gap", () => {
  assert.deepEqual(gaps(show(show(tall, 0, 300), 700, 1000)), [[300, 700]]);
});

test("what is unfolded is new at its end", () => {
  assert.deepEqual(gaps(resize(show(tall, 0, 1000), 600, 3000)), [[1000, 3000]]);
});

test("in another width what was seen stays seen, in proportion", () => {
  assert.deepEqual(gaps(resize(show(tall, 0, 1000), 300, 2000)), []);
  assert.deepEqual(gaps(resize(show(tall, 0, 500), 300, 2000)), [[1000, 2000]]);
});

test("stretches and gaps together are the whole, in whatever order it is seen", () => {
  const next = random(7);
  for (let round = 0; round < 300; round += 1) {
    let cover = tall;
    const seen = new Uint8Array(1000);
    for (let at = 0; at < 12; at += 1) {
      const from = Math.floor(next() * 1100) - 50;
      const to = from + Math.floor(next() * 200);
      cover = show(cover, from, to);
      seen.fill(1, Math.max(0, from), Math.max(0, Math.min(1000, to)));
    }
    for (const [from, to] of gaps(cover)) assert.ok(!seen.subarray(from, to).includes(1));
    const missing = gaps(cover).reduce((sum, [from, to]) => sum + to - from, 0);
    assert.ok(seen.filter((each) => each === 0).length - missing <= 13 * 6);
  }
});

const at = (top: number, layout: number[] = [500, 600, 0]): Shape => ({ controls: [10, top, 90, top + 30], layout });

test("a card that stays where it is stands still, whatever happens around it", () => {
  assert.equal(compare(at(300), at(301, [700, 600, 50]), false), "still");
});

test("what the person scrolls is scrolled, and what moves by itself has moved", () => {
  assert.equal(compare(at(300), at(200), true), "scrolled");
  assert.equal(compare(at(300), at(200), false), "moved");
});

test("a layout that changes while the person scrolls has moved", () => {
  assert.equal(compare(at(300), at(200, [560, 600, 0]), true), "moved");
  assert.equal(compare(at(300), { ...at(200), controls: [40, 200, 120, 230] }, true), "moved");
});

test("other controls have moved", () => {
  assert.equal(compare(at(300), { ...at(300), controls: [] }, true), "moved");
});

test("each answer has its weight, and what is not known allows", () => {
  const weights: [unknown, string][] = [
    [{ answers: [] }, "answer"],
    [{ allow: true, for: "always" }, "grant"],
    [{ allow: true, input: {} }, "grant"],
    [{ allow: false, message: "" }, "refuse"],
    [{ approve: true, mode: "default" }, "grant"],
    [{ approve: false, message: "" }, "refuse"],
    [{ outline: true }, "refuse"],
    [{ action: "accept", content: {} }, "grant"],
    [{ action: "decline" }, "refuse"],
    [{ action: "cancel" }, "refuse"],
    [{ trust: "exactly" }, "grant"],
    [{ trust: "without" }, "refuse"],
    [{ trust: "never" }, "refuse"],
    [{ something: "new" }, "grant"],
  ];
  for (const [answer, weight] of weights) assert.equal(weightOf(answer as Answer), weight);
});
