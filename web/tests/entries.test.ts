/** An audit entry is a sentence, also if its event is newer than this page. */
import assert from "node:assert/strict";
import test from "node:test";
import "../src/admin/texts";
import { sentenceOf } from "../src/admin/entries";

test("an entry says who did what", () => {
  assert.equal(sentenceOf("token made", "ana", "token created"), "ana created a token");
  assert.equal(sentenceOf("login", "ana", "signed in"), "ana signed in");
  assert.equal(sentenceOf("expired", "Handraise", "expired"), "A request expired");
  assert.equal(sentenceOf("something new", "ana", "something new"), "ana: something new");
});
