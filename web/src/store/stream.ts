/** The live stream, as this tab hears it. It remembers its place, and comes back to it by itself. */
import { signal } from "@preact/signals";
import type { Item, Preview } from "../feed/model";
import { readSnapshot, standing, takeItems } from "./desk";
import { get, Refused } from "./http";
import { type Heard, listen } from "./shared";
import { followTimelines, forgetTimelines, showPreview } from "./timelines";

export type Connection = { state: "connecting" } | { state: "live" } | { state: "catching_up" } | { state: "offline"; since: number };

export const connection = signal<Connection>({ state: "connecting" });

const GATHER = 8;
const QUIET = 300;
/** The hub pings every 15 seconds: after this long without a word, nobody is there. */
const SILENCE = 40_000;

let close: (() => void) | null = null;
let cursor = 0;
let heard = 0;
let tries = 0;
let again: ReturnType<typeof setTimeout> | undefined;
let settle: ReturnType<typeof setTimeout> | undefined;
let flush: ReturnType<typeof setTimeout> | undefined;
let gathered: Item[] = [];
let began = false;

/** Takes a snapshot, follows from it, and never gives up. */
export async function begin(): Promise<void> {
  stop();
  try {
    cursor = await readSnapshot();
    open();
    // What was said since the last time is in no stream: the conversations are read again.
    if (began) forgetTimelines();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) standing.value = "out";
    else lost();
  }
  if (!began) watchOver();
  began = true;
}

/** Tries at once, instead of waiting for its turn, or because something else could not be sent. */
export function tryNow(): void {
  clearTimeout(again);
  tries = 0;
  void reconnect();
}

function open(): void {
  close?.();
  heard = Date.now();
  close = listen(() => cursor, hear);
}

function hear(said: Heard): void {
  if (said.what === "lost") return lost();
  heard = Date.now();
  if (said.what === "opened") {
    tries = 0;
    if (connection.value.state === "offline") connection.value = { state: "catching_up" };
    wait();
  } else if (said.what === "item") {
    gather(JSON.parse(said.data) as Item);
    if (connection.value.state !== "live") wait();
  } else if (said.what === "preview") {
    showPreview(JSON.parse(said.data) as Preview);
  } else if (said.what === "reset") {
    void begin();
  }
}

/** Quiet for a moment after it opened: everything that was missed has arrived. */
function wait(): void {
  clearTimeout(settle);
  settle = setTimeout(() => {
    if (connection.value.state !== "live") connection.value = { state: "live" };
  }, QUIET);
}

/** Items that come together are drawn together. Asks wait for nobody; nor does a hidden page, whose timers hardly run. */
function gather(item: Item): void {
  if (item.cursor <= cursor) return;
  cursor = item.cursor;
  gathered.push(item);
  if (document.hidden || (item.type === "ask.opened" && connection.value.state === "live")) takeGathered();
  else flush ??= setTimeout(takeGathered, GATHER);
}

function takeGathered(): void {
  const items = gathered;
  gathered = [];
  clearTimeout(flush);
  flush = undefined;
  takeItems(items);
  followTimelines(items);
}

function lost(): void {
  stop();
  if (connection.value.state !== "offline") connection.value = { state: "offline", since: Date.now() };
  const pause = Math.min(5000, 500 * 2 ** tries);
  tries += 1;
  again = setTimeout(() => void reconnect(), pause);
}

async function reconnect(): Promise<void> {
  if (standing.value === "out") return;
  if (standing.value === "loading" || cursor === 0) return begin();
  try {
    await get("/api/me");
    open();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      stop();
      standing.value = "out";
    } else lost();
  }
}

function stop(): void {
  clearTimeout(again);
  clearTimeout(settle);
  close?.();
  close = null;
}

function watchOver(): void {
  addEventListener("online", tryNow);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && (close === null || Date.now() - heard > SILENCE / 2)) tryNow();
  });
  setInterval(() => {
    if (close !== null && Date.now() - heard > SILENCE) lost();
  }, 5000);
}
