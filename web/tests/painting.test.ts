/** A new card is painted before what stands around it. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { signal } from "@preact/signals";
import { afterwards, paintFirst } from "../src/store/painting";

let frames: (() => void)[] = [];
const page = { hidden: false };
Object.assign(globalThis, { document: page, requestAnimationFrame: (act: () => void) => frames.push(act) });

function nextFrame(): void {
  const due = frames;
  frames = [];
  for (const act of due) act();
}

beforeEach(() => {
  page.hidden = false;
  nextFrame();
  nextFrame();
});

test("without a new card, it is the same", () => {
  const count = signal(1);
  const shown = afterwards(count);

  count.value = 2;

  assert.equal(shown.value, 2);
});

test("what changes with a card follows in the frame after it", () => {
  const count = signal(1);
  const shown = afterwards(count);

  paintFirst();
  count.value = 2;
  nextFrame();
  assert.equal(shown.value, 1);
  nextFrame();

  assert.equal(shown.value, 2);
});

test("a second card in the same frame makes it wait no longer", () => {
  const count = signal(1);
  const shown = afterwards(count);

  paintFirst();
  nextFrame();
  paintFirst();
  count.value = 3;
  nextFrame();

  assert.equal(shown.value, 3);
});

test("a page that nobody sees draws no frames, and waits for none", () => {
  const count = signal(1);
  const shown = afterwards(count);
  page.hidden = true;

  paintFirst();
  count.value = 2;

  assert.equal(shown.value, 2);
});
