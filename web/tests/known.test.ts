/** What is settled stays settled, whatever arrives again and in whatever order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeAsks, changeSessions, learnAsk, NO_ASKS } from "../src/feed/known";
import type { Ask, Item, Session, Settlement } from "../src/feed/model";

const ASK = { id: "a_1", session: "s_1", kind: "plan", state: "open", body: { plan: "p" }, digest: "d", settlement: null, delivered_at: null } as unknown as Ask;
const ANSWERED: Settlement = { state: "answered", answer: { outline: true }, by: { kind: "person", name: "ann", seat: "" }, from: "web", at: "2026-01-01T00:00:00Z" };
const item = (content: object) => ({ cursor: 1, session: "s_1", at: "2026-01-01T00:00:01Z", ...content }) as unknown as Item;

test("a replay does not open an answered ask again", () => {
  // lesson 32
  let asks = changeAsks(NO_ASKS, item({ type: "ask.opened", ask: ASK }));
  asks = changeAsks(asks, item({ type: "ask.settled", ask: "a_1", settlement: ANSWERED }));
  asks = changeAsks(asks, item({ type: "ask.opened", ask: ASK }));
  assert.equal(asks.asks.get("a_1")?.state, "answered");
});

test("a settlement that is read before its ask is kept for it", () => {
  const outcome = { text: "ann asked for an outline first", yours: "You asked for an outline first" };
  let asks = changeAsks(NO_ASKS, item({ type: "ask.settled", ask: "a_1", settlement: ANSWERED, outcome }));
  asks = changeAsks(asks, item({ type: "ask.delivered", ask: "a_1" }));
  asks = changeAsks(asks, item({ type: "ask.opened", ask: ASK }));
  assert.equal(asks.asks.get("a_1")?.state, "answered");
  assert.equal(asks.asks.get("a_1")?.delivered_at, "2026-01-01T00:00:01Z");
  assert.deepEqual(asks.asks.get("a_1")?.card.outcome, outcome);
});

test("an agent that waits at another machine moves its ask there, and nothing else changes", () => {
  let asks = changeAsks(NO_ASKS, item({ type: "ask.opened", ask: { ...ASK, session: null, machine: "m_1" } }));
  asks = changeAsks(asks, item({ type: "ask.held", ask: "a_1", machine: "m_2" }));
  assert.equal(asks.asks.get("a_1")?.machine, "m_2");
  assert.equal(asks.asks.get("a_1")?.state, "open");
  assert.equal(changeAsks(asks, item({ type: "ask.held", ask: "a_9", machine: "m_2" })), asks);
});

test("a late answer adds to an expiry, and nothing else changes one", () => {
  const expired: Settlement = { state: "expired", at: "t", late: null };
  const late: Settlement = { state: "expired", at: "t", late: ANSWERED };
  let asks = learnAsk(learnAsk(NO_ASKS, ASK), { ...ASK, settlement: expired });
  asks = learnAsk(asks, { ...ASK, settlement: late });
  asks = learnAsk(asks, { ...ASK, settlement: expired });
  assert.deepEqual(asks.asks.get("a_1")?.settlement, late);
});

test("a resumed session has not ended", () => {
  const session = { id: "s_1", phase: "idle", mode: "default", ended: null } as unknown as Session;
  let sessions: ReadonlyMap<string, Session> = new Map([["s_1", session]]);
  sessions = changeSessions(sessions, item({ type: "session.ended", how: "lost", reason: "gone", exit_code: null, by: null }));
  assert.equal(sessions.get("s_1")?.ended?.how, "lost");
  sessions = changeSessions(sessions, item({ type: "session.changed", phase: "queued", mode: "default", model: null, title: "t", cost_usd: 0, stuck_since: null }));
  assert.equal(sessions.get("s_1")?.ended, null);
});

test("a removed session takes its requests with it, and nothing else", () => {
  const session = { id: "s_1", phase: "ended" } as unknown as Session;
  const sessions: ReadonlyMap<string, Session> = new Map([
    ["s_1", session],
    ["s_2", { ...session, id: "s_2" }],
  ]);
  const gone = item({ type: "session.removed", by: { kind: "person", name: "ann" } });
  assert.deepEqual([...changeSessions(sessions, gone).keys()], ["s_2"]);
  const asks = learnAsk(learnAsk(NO_ASKS, ASK), { ...ASK, id: "a_2", session: "s_2" });
  assert.deepEqual([...changeAsks(asks, gone).asks.keys()], ["a_2"]);
});
