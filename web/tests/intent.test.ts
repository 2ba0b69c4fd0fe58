/** The page's rule of what was meant passes the same cases as Python's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "../../tests/model/intent.json";
import * as intent from "../src/intent";

const TIMED = { move: intent.move, change: intent.change, turn: intent.turn, touch: intent.touch, scroll: intent.scroll };
const UNTIMED = { see: intent.see, go_on: intent.goOn };

function after(surface: intent.Surface, events: [number, string][]): intent.Attention {
  let card: intent.Attention | null = null;
  let touched: number | null = null;
  for (const [at, name] of events) {
    if (card === null) {
      if (name === "touch") touched = at;
      else card = intent.attend(surface, at, touched);
    } else if (name in UNTIMED) card = UNTIMED[name as keyof typeof UNTIMED](card);
    else card = TIMED[name as keyof typeof TIMED](card, at);
  }
  assert.ok(card);
  return card;
}

interface Case {
  name: string;
  surface: string;
  events: unknown[];
  act: unknown[];
  then?: unknown[];
  due?: number;
  verdict: string;
}

for (const { name, surface, events, act, then = [], due, verdict } of cases as Case[])
  test(name, () => {
    const [at, weight, how] = act as [number, intent.Weight, string?];
    const made: intent.Act = { at, weight, repeated: how === "repeated", letter: how === "letter" };
    const beforeDue = (then as [number, string][]).filter(([when]) => when <= intent.dueAt(made));
    const card = after(surface as intent.Surface, [...(events as [number, string][]), ...beforeDue]);
    assert.equal(intent.judge(card, made), verdict);
    assert.equal(intent.dueAt(made), due ?? at);
  });

test("letters in quick succession are words", () => {
  assert.ok(intent.isTyping(1000, 1000 + intent.BURST - 1));
  assert.ok(!intent.isTyping(1000, 1000 + intent.BURST));
  assert.ok(!intent.isTyping(null, 5));
});
