/** The worker keeps the page's own files, and nothing that the hub answers. */
import assert from "node:assert/strict";
import test from "node:test";
import { filesIn, isAway, shellRequest } from "../worker/shelled";

const HUB = "https://hub.example";
const kind = (path: string, mode = "cors", method = "GET") => shellRequest(method, mode, new URL(path, HUB), HUB);

test("views of the page open without the hub", () => {
  for (const path of ["/", "/sessions", "/sessions/s_1", "/sessions/s_1#at-3", "/admin/rules", "/?x"]) assert.equal(kind(path, "navigate"), "page");
});

test("a sign-in link, the API and other sites are left alone", () => {
  for (const path of ["/login?code=x", "/api/me", "/api/sessions/s_1/says/y/pictures/0", "/sessionsx", "/metrics"]) assert.equal(kind(path, "navigate"), null);
  for (const path of ["/api/asks", "/api/feed", "/worker.js", "https://elsewhere.example/assets/a.js"]) assert.equal(kind(path), null);
  assert.equal(kind("/", "navigate", "POST"), null);
});

test("only the page's own files are kept", () => {
  assert.equal(kind("/assets/index-abc.js"), "file");
  assert.equal(kind("/icon.svg"), "file");
  for (const path of ["/assets/../api/me", "/assets/a/b.js", "/assets/a.js?x=1", "/assets/"]) assert.equal(kind(path), null);
});

test("the files that the page starts with are in its index", () => {
  assert.deepEqual(filesIn('<script src="/assets/a-1.js"></script><link href="/assets/b.css"><a href="/api/x"><link href="/assets/b.css">'), ["/assets/a-1.js", "/assets/b.css"]);
});

test("a proxy without a hub counts as away", () => {
  assert.deepEqual([200, 401, 500, 502, 503, 504].map(isAway), [false, false, false, true, true, true]);
});
