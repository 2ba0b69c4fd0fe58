/** What is known of sessions and asks, and how an item of the feed changes it. Pure; nothing settled opens again. */
import type { Ask, Item, Session, Settlement } from "./model";

export type Sessions = ReadonlyMap<string, Session>;

export interface Asks {
  readonly asks: ReadonlyMap<string, Ask>;
  /** Settlements and deliveries whose ask is not known yet: history comes in pages, newest first. */
  readonly settled: ReadonlyMap<string, Settlement>;
  readonly delivered: ReadonlyMap<string, string>;
}

export const NO_ASKS: Asks = { asks: new Map(), settled: new Map(), delivered: new Map() };

/** The sessions after this item; the very same map if nothing changed or the session is not known. */
export function changeSessions(sessions: Sessions, item: Item): Sessions {
  const session = item.session === null ? undefined : sessions.get(item.session);
  if (!session) return sessions;
  const changed = changeSession(session, item);
  return changed === session ? sessions : new Map(sessions).set(session.id, changed);
}

function changeSession(session: Session, item: Item): Session {
  switch (item.type) {
    case "session.started":
      return { ...session, title: item.title, mode: item.mode, model: item.model ?? session.model, run: item.run, ended: null, changed_at: item.at };
    case "session.changed":
      return {
        ...session,
        phase: item.phase as Session["phase"],
        mode: item.mode,
        model: item.model,
        title: item.title,
        cost_usd: item.cost_usd,
        stuck_since: item.stuck_since,
        ended: item.phase === "ended" ? session.ended : null,
        changed_at: item.at,
      };
    case "session.ended":
      return {
        ...session,
        phase: "ended",
        ended: { how: item.how as "stopped", reason: item.reason, at: item.at, exit_code: item.exit_code, by: item.by ?? null, alarm: item.alarm },
        changed_at: item.at,
      };
    default:
      return session;
  }
}

/** Takes in an ask as somebody told it; what is known as settled stays settled. */
export function learnAsk(known: Asks, told: Ask): Asks {
  const before = known.asks.get(told.id);
  const settlement = latest(before?.settlement ?? null, latest(known.settled.get(told.id) ?? null, told.settlement));
  const delivered = told.delivered_at ?? before?.delivered_at ?? known.delivered.get(told.id) ?? null;
  if (before && before.digest === told.digest && before.settlement === settlement && before.delivered_at === delivered) return known;
  const ask: Ask = { ...told, settlement, state: settlement ? settlement.state : "open", delivered_at: delivered };
  return { ...known, asks: new Map(known.asks).set(ask.id, ask) };
}

/** The asks after this item. */
export function changeAsks(known: Asks, item: Item): Asks {
  switch (item.type) {
    case "ask.opened":
      return learnAsk(known, item.ask);
    case "ask.settled": {
      const ask = known.asks.get(item.ask);
      if (!ask) return { ...known, settled: new Map(known.settled).set(item.ask, item.settlement) };
      return learnAsk(known, { ...ask, settlement: item.settlement });
    }
    case "ask.delivered": {
      const ask = known.asks.get(item.ask);
      if (!ask) return { ...known, delivered: new Map(known.delivered).set(item.ask, item.at) };
      return learnAsk(known, { ...ask, delivered_at: item.at });
    }
    default:
      return known;
  }
}

/** There is no way back from a settlement; only a late answer adds to one. */
function latest(before: Settlement | null, told: Settlement | null): Settlement | null {
  if (before === null || told === null) return before ?? told;
  if (before.state === "expired" && before.late === null && told.state === "expired" && told.late !== null) return told;
  return before;
}
