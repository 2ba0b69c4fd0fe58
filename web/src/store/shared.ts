/**
 * The feed that all tabs of this browser share: one of them holds the connection and passes on what it receives.
 * A browser opens only six connections to a hub without TLS, for all its tabs together.
 */

export type FeedEvent = { type: "opened"; after: number } | { type: "item" | "preview" | "trouble"; data: string } | { type: "ping" | "reset" | "lost" };
/** What tabs send each other: what the hub sent, where a tab needs it from, or which sessions it shows. */
type TabMessage = FeedEvent | { type: "want"; after: number } | { type: "watch"; tab: string; sessions: readonly string[] };

const NAME = "handraise.feed";
/** How long a tab waits for the one that holds the connection, which may be asleep; then it opens its own. */
const PATIENCE_MS = 2000;
/** How often a tab says which sessions it shows, and how long that counts: a tab may end without a word. */
const REPEAT_MS = 20_000;
const LAPSE_MS = 60_000;
const MOST = 50;

/** Passes on everything after `place()`, possibly some of it twice, until it is closed. */
export class SharedFeed {
  private readonly closed = new AbortController();
  /** Only a page from this machine or over TLS has locks; any other connects for itself. */
  private readonly others = "locks" in navigator && "BroadcastChannel" in globalThis ? new BroadcastChannel(NAME) : null;
  private readonly alone: ReturnType<typeof setTimeout>;
  private source: EventSource | null = null;
  /** The last item that the connection delivered. */
  private delivered = 0;
  /** Whether this tab holds the connection for the others. */
  private holds = false;
  /** The sessions that each tab shows, and when it said so. */
  private readonly tabs = new Map<string, { sessions: readonly string[]; at: number }>();
  private readonly name = Math.random().toString(36).slice(2);
  /** What the connection was opened for. */
  private watched = "";
  private repeat: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly place: () => number,
    private readonly deliver: (event: FeedEvent) => void,
  ) {
    this.alone = setTimeout(() => this.source === null && this.open(place()), this.others ? PATIENCE_MS : 0);
    if (!this.others) return;
    this.others.onmessage = (event: MessageEvent<TabMessage>) => this.hear(event.data);
    navigator.locks.request(NAME, { signal: this.closed.signal }, () => this.hold()).catch(() => undefined);
    this.want();
  }

  /** The sessions that this tab shows: only their unfinished text comes from other machines. */
  watch(sessions: readonly string[]): void {
    clearInterval(this.repeat);
    const say = () => {
      this.note(this.name, sessions);
      this.others?.postMessage({ type: "watch", tab: this.name, sessions } satisfies TabMessage);
    };
    if (sessions.length) this.repeat = setInterval(say, REPEAT_MS);
    say();
  }

  close(): void {
    clearInterval(this.repeat);
    clearTimeout(this.alone);
    this.closed.abort();
    this.source?.close();
    this.source = null;
    this.others?.close();
  }

  private open(after: number): void {
    this.source?.close();
    this.watched = this.shown();
    const source = new EventSource(`/api/feed?texts=excerpt&after=${after}${this.watched ? `&watch=${this.watched}` : ""}`);
    this.source = source;
    this.delivered = after;
    source.onopen = () => this.receive({ type: "opened", after });
    source.onerror = () => this.source === source && this.receive({ type: "lost" });
    source.onmessage = (event: MessageEvent<string>) => {
      this.delivered = Number(event.lastEventId);
      this.receive({ type: "item", data: event.data });
    };
    source.addEventListener("preview", (event) => this.receive({ type: "preview", data: (event as MessageEvent<string>).data }));
    source.addEventListener("trouble", (event) => this.receive({ type: "trouble", data: (event as MessageEvent<string>).data }));
    source.addEventListener("ping", () => {
      this.receive({ type: "ping" });
      this.adapt();
    });
    source.addEventListener("reset", () => this.receive({ type: "reset" }));
  }

  private receive(event: FeedEvent): void {
    // A lost connection is not reported to others: this tab may just be closing. The next one to hold it finds out.
    if (this.holds && event.type !== "lost") this.others?.postMessage(event);
    this.deliver(event);
  }

  private hear(message: TabMessage): void {
    if (message.type === "want") this.provide(message.after);
    else if (message.type === "watch") this.note(message.tab, message.sessions);
    else if (this.source === null) {
      clearTimeout(this.alone);
      if (message.type === "opened" && this.place() < message.after) this.want();
      else this.deliver(message);
    }
  }

  private note(tab: string, sessions: readonly string[]): void {
    this.tabs.set(tab, { sessions, at: Date.now() });
    this.adapt();
  }

  private adapt(): void {
    if (this.source !== null && this.shown() !== this.watched) this.open(this.delivered);
  }

  /** What is on the screen in any tab, for the address of the feed. */
  private shown(): string {
    const since = Date.now() - LAPSE_MS;
    const fresh = [...this.tabs.values()].filter((each) => each.at > since);
    return [...new Set(fresh.flatMap((each) => each.sessions))].sort().slice(0, MOST).map(encodeURIComponent).join(",");
  }

  /** Another tab needs what came after this place. */
  private provide(after: number): void {
    if (!this.holds || this.source === null) return;
    if (after < this.delivered) this.open(after);
    else if (this.source.readyState === EventSource.OPEN) this.others?.postMessage({ type: "opened", after: this.delivered } satisfies FeedEvent);
  }

  private want(): void {
    this.others?.postMessage({ type: "want", after: this.place() } satisfies TabMessage);
  }

  private hold(): Promise<void> | undefined {
    if (this.closed.signal.aborted) return;
    this.holds = true;
    clearTimeout(this.alone);
    if (this.source === null) this.open(this.place());
    return new Promise((resolve) => this.closed.signal.addEventListener("abort", () => resolve()));
  }
}
