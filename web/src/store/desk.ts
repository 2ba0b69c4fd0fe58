/** Everything on the screen comes from here, and everything here comes from the hub. Nothing is assumed ahead of it. */
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Asks as AsksPage, Me, Projects, Sessions as SessionsPage } from "../generated/api";
import { changeAsks, changeSessions, learnAsk, NO_ASKS, type KnownAsks } from "../feed/known";
import type { Actor, Ask, Item, Project, Session, Settlement, ToolTraits } from "../feed/model";
import { firstPlainLine } from "../text/plainLine";
import { get, Refused } from "./http";
import { useLanguage } from "./language";
import { machines, readMachines, takeMachineItem } from "./machines";

export interface RemovedSession {
  readonly title: string;
  readonly by: Actor | null;
}

export type Standing = "loading" | "out" | "in";

/** Whether the hub knows who we are. */
export const standing = signal<Standing>("loading");
export const me = signal<Me | null>(null);
export const sessions = signal<ReadonlyMap<string, Session>>(new Map());
export const known = signal<KnownAsks>(NO_ASKS);
export const projects = signal<readonly Project[]>([]);
/** The last activity of each session, in one line. */
export const lastLines = signal<ReadonlyMap<string, string>>(new Map());
/** The sessions that were removed while this page was open: what they were called, and who did it, if that is known. */
export const removed = signal<ReadonlyMap<string, RemovedSession>>(new Map());
/** Whether a snapshot is here: before that, nothing may be shown as empty. */
export const ready = signal(false);
/** Asks that people settled while this page was open, newest first. */
export const justSettled = signal<readonly string[]>([]);

const RECENT = 8;
/** How many expired asks are searched for some that can still be answered. */
const MISSED = 200;
const asksById = new Map<string, ReadonlySignal<Ask | undefined>>();
const sessionsById = new Map<string, ReadonlySignal<Session | undefined>>();

/** One ask. A component that reads it is redrawn only when that ask changes. */
export function askOf(id: string): Ask | undefined {
  return cached(asksById, id, () => known.value.asks.get(id));
}

/** One session, likewise; none for an external agent. */
export function sessionOf(id: string | null): Session | undefined {
  return id === null ? undefined : cached(sessionsById, id, () => sessions.value.get(id));
}

/** Whether it was done from this very browser: the same account elsewhere counts as someone else. */
export function isMe(by: Actor): boolean {
  return by.kind === "person" && Boolean(by.seat) && by.seat === me.value?.seat && by.name === me.value?.name;
}

function cached<T>(all: Map<string, ReadonlySignal<T>>, id: string, read: () => T): T {
  let found = all.get(id);
  if (!found) all.set(id, (found = computed(read)));
  return found.value;
}

export const openAsks = computed<Ask[]>(() => {
  const open = [...known.value.asks.values()].filter((ask) => ask.state === "open");
  return open.sort((a, b) => (a.opened_at < b.opened_at ? -1 : a.opened_at > b.opened_at ? 1 : a.id < b.id ? -1 : 1));
});

/** Expired without a late answer: can still be answered while the session runs. */
export const missedAsks = computed<Ask[]>(() =>
  [...known.value.asks.values()]
    .filter((ask) => ask.settlement?.state === "expired" && ask.settlement.late === null)
    .filter((ask) => ask.session !== null && sessions.value.get(ask.session)?.ended === null)
    .sort((a, b) => (a.opened_at < b.opened_at ? -1 : 1)),
);

let before: ReadonlyMap<string, readonly Ask[]> = new Map();

/** The open asks of each session; an unchanged list keeps its identity. */
export const openBySession = computed<ReadonlyMap<string, readonly Ask[]>>(() => {
  const found = new Map<string, Ask[]>();
  for (const ask of openAsks.value) {
    if (ask.session === null) continue;
    const list = found.get(ask.session);
    if (list) list.push(ask);
    else found.set(ask.session, [ask]);
  }
  before = new Map([...found].map(([id, list]) => [id, isSame(before.get(id), list) ? (before.get(id) as Ask[]) : list]));
  return before;
});

function isSame(a: readonly Ask[] | undefined, b: readonly Ask[]): boolean {
  return a?.length === b.length && a.every((ask, at) => ask === b[at]);
}

/** The names of Claude's tools of this kind, as examples. */
export function toolsOf(kind: ToolTraits["kind"]): string[] {
  const tools = me.value?.tools ?? {};
  return Object.keys(tools).filter((name) => tools[name] === kind);
}

export function may(role: "approver" | "admin"): boolean {
  const mine = me.value?.role;
  return mine === "admin" || (role === "approver" && mine === "approver");
}

/** Reads everything again. Returns the cursor to follow the feed from. */
export async function readSnapshot(): Promise<number> {
  const [who, listed, inbox, missed, places, computers] = await Promise.all([
    readMe(),
    readSessions(),
    readOpen(),
    get<AsksPage>(`/api/asks?texts=excerpt&state=expired&order=newest&limit=${MISSED}`),
    get<Projects>("/api/projects"),
    readMachines(),
  ]);
  batch(() => {
    me.value = who;
    standing.value = "in";
    projects.value = places.projects;
    machines.value = new Map(computers.map((machine) => [machine.id, machine]));
    const before = sessions.value;
    sessions.value = new Map(listed.sessions.map((session) => [session.id, session]));
    for (const [id, { title }] of before) if (!sessions.value.has(id)) noteRemoved(id, title, null);
    lastLines.value = new Map(listed.sessions.map((session) => [session.id, session.last_line]));
    // What is settled stays settled, and in its conversation; what is open is what the hub says.
    const isKept = (ask: Ask) => ask.settlement !== null && !(ask.session !== null && removed.value.has(ask.session));
    let asks: KnownAsks = { ...known.value, asks: new Map([...known.value.asks].filter(([, ask]) => isKept(ask))) };
    for (const ask of [...missed.asks, ...inbox.asks]) asks = learnAsk(asks, ask);
    known.value = asks;
    ready.value = true;
  });
  return Math.min(listed.cursor, inbox.cursor);
}

/** Who we are, and the texts if the hub uses another language. */
async function readMe(): Promise<Me> {
  const who = await get<Me & { language?: string }>("/api/me");
  await useLanguage(who.language ?? "en");
  return who;
}

/** All of them, however many: an inbox must not leave any out. */
async function readOpen(): Promise<{ asks: Ask[]; cursor: number }> {
  const first = await get<AsksPage>("/api/asks?texts=excerpt&state=open");
  const all = [...first.asks];
  for (let next = first.next; next !== null; ) {
    const page = await get<AsksPage>(`/api/asks?texts=excerpt&state=open&after=${encodeURIComponent(next)}`);
    all.push(...page.asks);
    next = page.next;
  }
  return { asks: all, cursor: first.cursor };
}

async function readSessions(): Promise<{ sessions: Session[]; cursor: number }> {
  const first = await get<SessionsPage>("/api/sessions?limit=1000");
  const all = [...first.sessions];
  for (let next = first.next; next !== null; ) {
    const page = await get<SessionsPage>(`/api/sessions?limit=1000&after=${encodeURIComponent(next)}`);
    all.push(...page.sessions);
    next = page.next;
  }
  return { sessions: all, cursor: first.cursor };
}

/** Applies feed items, in order. */
export function takeItems(items: readonly Item[]): void {
  const strangers = new Set<string>();
  batch(() => {
    for (const item of items) {
      if (item.type === "session.removed" && item.session !== null) noteRemoved(item.session, sessions.value.get(item.session)?.title ?? "", item.by);
      sessions.value = changeSessions(sessions.value, item);
      if (item.type === "ask.settled") noteSettled(item.ask, item.settlement);
      known.value = changeAsks(known.value, item);
      takeMachineItem(item);
      noteLine(item);
      if (item.session !== null && !sessions.value.has(item.session) && !removed.value.has(item.session)) strangers.add(item.session);
    }
  });
  for (const id of strangers) void meet(id);
}

/** History loaded for a conversation: only its asks are added. */
export function takeHistory(items: readonly Item[]): void {
  let asks = known.value;
  for (const item of items) asks = changeAsks(asks, item);
  known.value = asks;
}

/** A session that started after the snapshot. */
export async function meet(id: string): Promise<void> {
  try {
    const session = await get<Session>(`/api/sessions/${encodeURIComponent(id)}`);
    if (removed.value.has(id)) return;
    sessions.value = new Map(sessions.value).set(session.id, session);
  } catch (error) {
    if (!(error instanceof Refused) || error.status >= 500) setTimeout(() => void meet(id), 2000);
  }
}

/** An ask from outside the feed: its state when an answer was refused. */
export function takeAsk(ask: Ask): void {
  if (ask.settlement) noteSettled(ask.id, ask.settlement);
  known.value = learnAsk(known.value, ask);
}

function noteRemoved(id: string, title: string, by: Actor | null): void {
  removed.value = new Map(removed.value).set(id, { title, by });
  const gone = new Set([...known.value.asks.values()].filter((ask) => ask.session === id).map((ask) => ask.id));
  justSettled.value = justSettled.value.filter((ask) => !gone.has(ask));
  lastLines.value = new Map([...lastLines.value].filter(([session]) => session !== id));
}

function noteSettled(ask: string, settlement: Settlement): void {
  if (known.value.asks.get(ask)?.state !== "open") return;
  if (settlement.state === "answered" && settlement.by.kind === "rule") return;
  justSettled.value = [ask, ...justSettled.value].slice(0, RECENT);
}

function noteLine(item: Item): void {
  if (item.session === null) return;
  const line = item.type === "action.started" && item.parent === null ? item.title : item.type === "text" && item.parent === null ? firstLine(item.text) : "";
  if (line) lastLines.value = new Map(lastLines.value).set(item.session, line);
}

function firstLine(text: string): string {
  return firstPlainLine(text).slice(0, 160);
}
