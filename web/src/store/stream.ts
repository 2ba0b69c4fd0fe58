/** The live feed, as this tab receives it. It remembers its cursor, and reconnects by itself. */
import { signal } from "@preact/signals";
import type { Item, Preview } from "../feed/model";
import { me, readSnapshot, standing, takeItems } from "./desk";
import { takeFailure } from "./failures";
import { moment } from "../text/times";
import { t } from "../texts";
import { get, Refused } from "./http";
import { paintFirst } from "./painting";
import { SharedFeed, type FeedEvent } from "./shared";
import { followTimelines, forgetTimelines, showPreview } from "./timelines";

export type Connection = { state: "connecting" } | { state: "live" } | { state: "catching_up" } | { state: "offline"; since: number };

export const connection = signal<Connection>({ state: "connecting" });

const GATHER_MS = 8;
const QUIET_MS = 300;
/** The hub pings every 15 seconds: after this long without a ping, the connection is lost. */
const SILENCE_MS = 40_000;
const WATCH_MS = 5000;
const LONGEST_PAUSE_MS = 5000;

/** When this browser last heard from the hub: a page that opens without it says so. */
const SEEN = "handraise.seen";
const NOTED_MS = 10_000;
let noted = 0;

function noteSeen(at: number): void {
  if (at - noted < NOTED_MS) return;
  noted = at;
  try {
    localStorage.setItem(SEEN, String(at));
  } catch {
    // Full or forbidden: then only this page knows.
  }
}

function lastSeen(): number {
  const at = Number(localStorage.getItem(SEEN) ?? 0);
  return at > 0 && at <= Date.now() ? at : Date.now();
}

type Timer = ReturnType<typeof setTimeout> | undefined;

/** Follows the hub's feed for one tab, starting from a snapshot. There is only one. */
class LiveFeed {
  private feed: SharedFeed | null = null;
  /** The last item that was applied. */
  private cursor = 0;
  private heardAt = 0;
  private failures = 0;
  private retry: Timer;
  private settle: Timer;
  private flush: Timer;
  /** Items that are drawn together. */
  private pending: Item[] = [];
  private begun = false;
  /** The sessions that this tab shows. */
  private shown: readonly string[] = [];
  private showing: Timer;

  /** Takes a snapshot, follows from it, and never gives up. */
  async begin(): Promise<void> {
    this.stop();
    try {
      this.cursor = await readSnapshot();
      this.open();
      // What happened in between is in no feed: the conversations are read again.
      if (this.begun) forgetTimelines();
    } catch (error) {
      this.fail(error);
    }
    if (!this.begun) this.watch();
    this.begun = true;
  }

  /** Tries immediately instead of waiting, or because something else could not be sent. */
  tryNow(): void {
    clearTimeout(this.retry);
    this.failures = 0;
    void this.reconnect();
  }

  /** Says which sessions this tab shows. Leaving one and opening the next count as one change. */
  show(sessions: readonly string[]): void {
    this.shown = sessions;
    clearTimeout(this.showing);
    this.showing = setTimeout(() => this.feed?.watch(this.shown), GATHER_MS);
  }

  private open(): void {
    this.feed?.close();
    this.heardAt = Date.now();
    this.feed = new SharedFeed(
      () => this.cursor,
      (event) => this.receive(event),
    );
    if (this.shown.length) this.feed.watch(this.shown);
  }

  private receive(event: FeedEvent): void {
    if (event.type === "lost") return this.disconnected();
    this.heardAt = Date.now();
    noteSeen(this.heardAt);
    switch (event.type) {
      case "opened":
        this.failures = 0;
        if (connection.value.state === "offline") connection.value = { state: "catching_up" };
        this.waitForQuiet();
        break;
      case "item":
        this.gather(JSON.parse(event.data) as Item);
        if (connection.value.state !== "live") this.waitForQuiet();
        break;
      case "preview":
        showPreview(JSON.parse(event.data) as Preview);
        break;
      case "trouble":
        me.value = me.value && { ...me.value, hub_trouble: (JSON.parse(event.data) as { trouble: string }).trouble };
        break;
      case "reset":
        void this.begin();
    }
  }

  /** Quiet for a moment after it opened: everything missed has arrived. */
  private waitForQuiet(): void {
    clearTimeout(this.settle);
    this.settle = setTimeout(() => {
      if (connection.value.state !== "live") connection.value = { state: "live" };
    }, QUIET_MS);
  }

  /** Items that come together are drawn together. Asks are drawn immediately, and so is everything on a hidden page, whose timers hardly run. */
  private gather(item: Item): void {
    if (item.cursor <= this.cursor) return;
    this.cursor = item.cursor;
    this.pending.push(item);
    if (item.type === "ask.opened" && connection.value.state === "live") {
      paintFirst();
      this.takePending();
    } else if (document.hidden) this.takePending();
    else this.flush ??= setTimeout(() => this.takePending(), GATHER_MS);
  }

  private takePending(): void {
    const items = this.pending;
    this.pending = [];
    clearTimeout(this.flush);
    this.flush = undefined;
    takeItems(items);
    items.forEach(takeFailure);
    followTimelines(items);
  }

  private disconnected(): void {
    this.stop();
    if (connection.value.state !== "offline") connection.value = { state: "offline", since: this.cursor === 0 ? lastSeen() : Date.now() };
    const pause = Math.min(LONGEST_PAUSE_MS, 500 * 2 ** this.failures);
    this.failures += 1;
    this.retry = setTimeout(() => void this.reconnect(), pause);
  }

  private async reconnect(): Promise<void> {
    if (standing.value === "out") return;
    if (standing.value === "loading" || this.cursor === 0) return this.begin();
    try {
      await get("/api/me");
      this.open();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Signed out, or not reached. */
  private fail(error: unknown): void {
    if (!(error instanceof Refused) || error.status !== 401) return this.disconnected();
    this.stop();
    standing.value = "out";
  }

  private stop(): void {
    clearTimeout(this.retry);
    clearTimeout(this.settle);
    this.feed?.close();
    this.feed = null;
  }

  private watch(): void {
    addEventListener("online", () => this.tryNow());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && (this.feed === null || Date.now() - this.heardAt > SILENCE_MS / 2)) this.tryNow();
    });
    setInterval(() => {
      if (this.feed !== null && Date.now() - this.heardAt > SILENCE_MS) this.disconnected();
    }, WATCH_MS);
  }
}

const live = new LiveFeed();

export const begin = (): Promise<void> => live.begin();
export const tryNow = (): void => live.tryNow();
export const show = (sessions: readonly string[]): void => live.show(sessions);

/** Why nothing is here: the page was opened without the hub. */
export function withoutHub(): string {
  const at = connection.value;
  return t("page.connection.shell", { time: at.state === "offline" ? moment(new Date(at.since).toISOString()) : "" });
}
