/** What is known of sessions and asks, and how a feed item changes it. Pure; nothing settled opens again. */
import type { Ask, Card, CardOutcome, Item, Session, Settlement } from "./model";

export type KnownSessions = ReadonlyMap<string, Session>;

export interface KnownAsks {
  readonly asks: ReadonlyMap<string, Ask>;
  /** Settlements and deliveries whose ask is unknown: history comes in pages, newest first. */
  readonly settled: ReadonlyMap<string, Ending>;
  readonly delivered: ReadonlyMap<string, string>;
}

/** How an ask ended, also in the hub's words. */
interface Ending {
  readonly settlement: Settlement;
  readonly outcome: CardOutcome | null;
}

export const NO_ASKS: KnownAsks = { asks: new Map(), settled: new Map(), delivered: new Map() };

/** The sessions after this item; the same map if nothing changed or the session is unknown. */
export function changeSessions(sessions: KnownSessions, item: Item): KnownSessions {
  const session = item.session === null ? undefined : sessions.get(item.session);
  if (!session) return sessions;
  if (item.type === "session.removed") return new Map([...sessions].filter(([id]) => id !== session.id));
  const changed = changeSession(session, item);
  return changed === session ? sessions : new Map(sessions).set(session.id, changed);
}

function changeSession(session: Session, item: Item): Session {
  switch (item.type) {
    case "session.started":
      return { ...session, title: item.title, mode: item.mode, model: item.model ?? session.model, run: item.run, terminal: item.terminal ?? "", ended: null, changed_at: item.at };
    case "session.changed":
      return {
        ...session,
        phase: item.phase as Session["phase"],
        mode: item.mode,
        model: item.model,
        title: item.title,
        cost_usd: item.cost_usd,
        stuck_since: item.stuck_since,
        usage: item.usage,
        dialog: item.dialog ?? "",
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

/** Adds an ask as the hub sent it; what is known as settled stays settled. */
export function learnAsk(known: KnownAsks, fresh: Ask): KnownAsks {
  const before = known.asks.get(fresh.id);
  const ending = latest(before ? endingOf(before) : null, latest(known.settled.get(fresh.id) ?? null, endingOf(fresh)));
  const settlement = ending?.settlement ?? null;
  const delivered = fresh.delivered_at ?? before?.delivered_at ?? known.delivered.get(fresh.id) ?? null;
  if (before && before.digest === fresh.digest && before.settlement === settlement && before.delivered_at === delivered && before.machine === fresh.machine) return known;
  const card = { ...cardOf(fresh), outcome: ending?.outcome ?? null };
  const ask: Ask = { ...fresh, settlement, card, state: settlement ? settlement.state : "open", delivered_at: delivered };
  return { ...known, asks: new Map(known.asks).set(ask.id, ask) };
}

/** The asks after this item. */
export function changeAsks(known: KnownAsks, item: Item): KnownAsks {
  switch (item.type) {
    case "ask.opened":
      return learnAsk(known, item.ask);
    case "ask.settled": {
      const ask = known.asks.get(item.ask);
      const { settlement, outcome = null } = item;
      if (!ask) return { ...known, settled: new Map(known.settled).set(item.ask, { settlement, outcome }) };
      return learnAsk(known, { ...ask, settlement, card: { ...ask.card, outcome } });
    }
    case "ask.delivered": {
      const ask = known.asks.get(item.ask);
      if (!ask) return { ...known, delivered: new Map(known.delivered).set(item.ask, item.at) };
      return learnAsk(known, { ...ask, delivered_at: item.at });
    }
    case "ask.held": {
      const ask = known.asks.get(item.ask);
      return ask ? learnAsk(known, { ...ask, machine: item.machine }) : known;
    }
    case "session.removed":
      return { ...known, asks: new Map([...known.asks].filter(([, ask]) => ask.session !== item.session)) };
    default:
      return known;
  }
}

function endingOf(ask: Ask): Ending | null {
  return ask.settlement && { settlement: ask.settlement, outcome: cardOf(ask).outcome };
}

/** An ask stored by an older hub may come without its card. */
function cardOf(ask: Ask): Card {
  return (
    (ask.card as Card | undefined) ?? {
      headline: ask.tool,
      evidence: [],
      choices: [],
      why: ask.why,
      outcome: null,
      risk: { level: "medium", reason: "" },
      traits: null,
      only_once: false,
      link: null,
      size: "",
      dangers: [],
    }
  );
}

/** A settlement is final; only a late answer adds to one. */
function latest(before: Ending | null, after: Ending | null): Ending | null {
  if (before === null || after === null) return before ?? after;
  return isLate(after.settlement) && !isLate(before.settlement) && before.settlement.state === "expired" ? after : before;
}

function isLate(settlement: Settlement): boolean {
  return settlement.state === "expired" && settlement.late !== null;
}
