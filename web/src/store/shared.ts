/**
 * The live stream that all tabs of this browser share: one of them holds it, and passes on what it hears.
 * A browser opens only six connections to a hub without TLS, for all its tabs together.
 */

export type Heard = { what: "opened"; after: number } | { what: "item" | "preview"; data: string } | { what: "ping" | "reset" | "lost" };
type Said = Heard | { what: "want"; after: number };

const NAME = "handraise.feed";
/** How long a tab waits for a word of the one that holds the stream, which may be asleep; then it opens its own. */
const PATIENCE = 2000;

/** Tells of everything after `place()`, perhaps of some things twice, until what it returns is called. */
export function listen(place: () => number, tell: (heard: Heard) => void): () => void {
  const gone = new AbortController();
  let source: EventSource | null = null;
  let told = 0;
  let holds = false;

  function open(after: number): void {
    source?.close();
    const opened = new EventSource(`/api/feed?after=${after}`);
    source = opened;
    told = after;
    opened.onopen = () => hear({ what: "opened", after });
    opened.onerror = () => source === opened && hear({ what: "lost" });
    opened.onmessage = (event: MessageEvent<string>) => {
      told = Number(event.lastEventId);
      hear({ what: "item", data: event.data });
    };
    opened.addEventListener("preview", (event) => hear({ what: "preview", data: (event as MessageEvent<string>).data }));
    opened.addEventListener("ping", () => hear({ what: "ping" }));
    opened.addEventListener("reset", () => hear({ what: "reset" }));
  }

  function hear(heard: Heard): void {
    // That it was lost is not passed on: this tab may just be closing. Whoever takes it up finds out.
    if (holds && heard.what !== "lost") others?.postMessage(heard);
    tell(heard);
  }

  function pass(said: Said): void {
    if (said.what === "want") {
      if (!holds || source === null) return;
      if (said.after < told) open(said.after);
      else if (source.readyState === EventSource.OPEN) others?.postMessage({ what: "opened", after: told } satisfies Heard);
    } else if (source === null) {
      clearTimeout(alone);
      if (said.what === "opened" && place() < said.after) want();
      else tell(said);
    }
  }

  function want(): void {
    others?.postMessage({ what: "want", after: place() } satisfies Said);
  }

  function take(): Promise<void> | undefined {
    if (gone.signal.aborted) return;
    holds = true;
    clearTimeout(alone);
    if (source === null) open(place());
    return new Promise((resolve) => gone.signal.addEventListener("abort", () => resolve()));
  }

  // Only a page that came from this machine or by TLS has locks; any other hears for itself.
  const others = "locks" in navigator && "BroadcastChannel" in globalThis ? new BroadcastChannel(NAME) : null;
  const alone = setTimeout(() => source === null && open(place()), others ? PATIENCE : 0);
  if (others) {
    others.onmessage = (event: MessageEvent<Said>) => pass(event.data);
    navigator.locks.request(NAME, { signal: gone.signal }, take).catch(() => undefined);
    want();
  }
  return () => {
    clearTimeout(alone);
    gone.abort();
    source?.close();
    source = null;
    others?.close();
  };
}
