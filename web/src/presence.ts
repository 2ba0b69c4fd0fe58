/** Tells the hub what this page shows while someone is at it: nobody is notified of what they look at. */
import { effect } from "@preact/signals";
import { openAsks, standing } from "./store/desk";
import { post } from "./store/http";
import { inboxAsks, place } from "./store/place";

/** Milliseconds. The hub forgets a page that is silent for a minute. */
const AGAIN = 25_000;
/** Milliseconds without a key or a pointer, after which nobody is here, whatever has the focus. */
const IDLE = 120_000;

const page = crypto.getRandomValues(new Uint32Array(4)).join("-");
let last = "";
let touched = Date.now();

export function watchPresence(): void {
  const touch = () => {
    const wasIdle = isIdle();
    touched = Date.now();
    if (wasIdle) report();
  };
  for (const event of ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"]) addEventListener(event, touch, { passive: true, capture: true });
  for (const event of ["focus", "blur", "pagehide", "pageshow"]) addEventListener(event, () => report());
  document.addEventListener("visibilitychange", () => report());
  effect(() => {
    void [place.value, standing.value, inboxAsks.value.length === openAsks.value.length];
    report();
  });
  setInterval(() => report(true), AGAIN);
}

function isIdle(): boolean {
  return Date.now() - touched > IDLE;
}

function report(again = false): void {
  if (standing.peek() !== "in") return;
  const focused = !document.hidden && document.hasFocus() && !isIdle();
  const here = place.peek();
  // A filter hides some requests: then the inbox doesn't show them all.
  const view = here.view === "session" ? "session" : here.view === "inbox" && inboxAsks.peek().length === openAsks.peek().length ? "inbox" : "other";
  const next = JSON.stringify([focused, focused ? view : "", focused && here.view === "session" ? here.id : ""]);
  if (next === last && !(again && focused)) return;
  last = next;
  // If it fails, the next one says the same.
  post("/api/presence", { page, focused, view, session: here.view === "session" ? here.id : null }).catch(() => undefined);
}
