/** Notifications: delays as they are typed, chains and channels as the hub expects them, and how long a mute lasts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, errorsOf, extended, hasErrors, keyOf, moved, stepsOf } from "../src/admin/reach/chain";
import { bodyOf, changeOf, draftOf as channelDraft } from "../src/admin/reach/channel";
import { delayInWords, readDelay, writeDelay } from "../src/admin/reach/delays";
import { endOf } from "../src/admin/reach/muting";
import type { ChainStep, Channel, ChannelKind } from "../src/generated/api";
import { random } from "./random";

test("a delay is read as people type it", () => {
  const typed: [string, number | null][] = [
    ["0", 0],
    ["0 s", 0],
    ["30s", 30],
    ["2 min", 120],
    ["2min.", 120],
    [" 15 Minutes ", 900],
    ["1 h 30 min", 5400],
    ["1h30m", 5400],
    ["1,5 h", 5400],
    ["0.5 hours", 1800],
    ["7 d", 604_800],
    ["7 d 1 s", null],
    ["2", null],
    ["", null],
    ["soon", null],
    ["2 min later", null],
    ["-2 min", null],
    ["2 constructor", null],
    ["1e9 s", null],
  ];
  for (const [text, seconds] of typed) assert.equal(readDelay(text), seconds, text);
});

test("a delay that was written is read as the same", () => {
  const next = random(17);
  for (let number = 0; number < 500; number += 1) {
    const seconds = Math.floor(next() * 604_800);
    assert.equal(readDelay(writeDelay(seconds)), seconds);
  }
  assert.deepEqual([0, 90, 7200, 90_060].map(writeDelay), ["0 s", "1 min 30 s", "2 h", "1 d 1 h 1 min"]);
  assert.equal(delayInWords(5400), "1 h 30 min");
});

const STEPS: ChainStep[] = [
  { after: 0, targets: [{ to: "screens" }] },
  { after: 120, targets: [{ to: "channel", channel: "c_1" }] },
];

test("a chain that nobody changed is the same", () => {
  assert.deepEqual(stepsOf(draftOf(STEPS)), STEPS);
  assert.equal(hasErrors(errorsOf(draftOf(STEPS))), false);
});

test("steps change places, and delays stay", () => {
  const draft = moved(draftOf(STEPS), 0, 1);
  assert.deepEqual(stepsOf(draft), [
    { after: 0, targets: STEPS[1]?.targets },
    { after: 120, targets: STEPS[0]?.targets },
  ]);
  assert.deepEqual(moved(draft, 0, -1), draft);
});

test("a new step comes last, and says what it lacks", () => {
  const draft = extended(draftOf(STEPS));
  assert.equal(draft.at(-1)?.delay, "15 min");
  assert.deepEqual(errorsOf(draft), [{}, {}, { targets: "no_targets" }]);
  const typed = draft.map((step, at) => (at === 2 ? { ...step, delay: "soon", targets: STEPS[0]?.targets ?? [] } : step));
  assert.deepEqual(errorsOf(typed), [{}, {}, { delay: "bad_delay" }]);
  assert.equal(extended([]).at(0)?.delay, "0 s");
});

test("targets are told apart", () => {
  const keys = [{ to: "devices" }, { to: "devices", person: "ann" }, { to: "person", person: "ann" }, { to: "channel", channel: "ann" }, { to: "channels" }] as const;
  assert.equal(new Set(keys.map(keyOf)).size, keys.length);
});

const FIELD = { required: false, secret: false, default: "", choices: [] };
const NTFY: ChannelKind = {
  kind: "ntfy",
  fields: [
    { ...FIELD, name: "server", default: "https://ntfy.sh" },
    { ...FIELD, name: "topic", required: true },
    { ...FIELD, name: "token", secret: true },
  ],
};
const CHANNEL: Channel = {
  id: "c_1",
  name: "Phone",
  kind: "ntfy",
  owner: "ann",
  describes: "",
  fields: { server: "https://ntfy.sh", topic: "shop", service: "x" },
  secrets: ["token"],
  with_content: true,
  created_at: "",
  last_sent_at: null,
  trouble: null,
};

test("a secret that wasn't typed again is left out, and nothing that isn't a field is sent", () => {
  const draft = channelDraft(CHANNEL, [NTFY]);
  assert.deepEqual(changeOf(draft, NTFY.fields), { name: "Phone", fields: { server: "https://ntfy.sh", topic: "shop" }, with_content: true });
  const typed = { ...draft, name: " Phone ", fields: { ...draft.fields, topic: " shop ", token: " s " } };
  assert.deepEqual(bodyOf(typed, NTFY.fields).fields, { server: "https://ntfy.sh", topic: "shop", token: " s " });
  assert.equal(bodyOf(typed, NTFY.fields).name, "Phone");
});

test("a new ntfy channel has a topic that nobody can guess, and sends no content", () => {
  const [one, other] = [channelDraft(null, [NTFY]), channelDraft(null, [NTFY])];
  assert.match(one.fields["topic"] ?? "", /^handraise-[a-z2-9]{16}$/);
  assert.notEqual(one.fields["topic"], other.fields["topic"]);
  assert.equal(one.withContent, false);
});

test("a mute ends in an hour, tomorrow morning, or never by itself", () => {
  const evening = new Date(2030, 0, 31, 22, 30);
  assert.equal(endOf("hour", evening)?.getTime(), evening.getTime() + 3_600_000);
  assert.deepEqual(endOf("tomorrow", evening), new Date(2030, 1, 1, 8));
  assert.equal(endOf("open", evening), null);
});
