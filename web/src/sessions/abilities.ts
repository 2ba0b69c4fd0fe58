/** What Claude offers where a session runs: asked for when it is needed, and remembered for a while. */
import { type Signal, signal, type ReadonlySignal } from "@preact/signals";
import type { Abilities } from "../generated/api";
import { removed } from "../store/desk";
import { get } from "../store/http";

const FRESH = 60_000;
/** Claude may not have started yet: how long until the hub is asked again, at first, and how often. */
const [SOON, MOST] = [500, 7];
const NOTHING: Abilities = { commands: [], models: [] };

interface KnownAbilities {
  at: number;
  value: Signal<Abilities | null>;
}

const known = new Map<string, KnownAbilities>();

/** By a query of `/api/abilities`, such as `session=s_1`. Null until the hub has answered; old values stay meanwhile. */
export function abilitiesOf(query: string): ReadonlySignal<Abilities | null> {
  let found = known.get(query);
  if (!found) known.set(query, (found = { at: 0, value: signal<Abilities | null>(null) }));
  if (Date.now() - found.at > FRESH) void load(query, found, 0);
  return found.value;
}

async function load(query: string, found: KnownAbilities, tries: number): Promise<void> {
  found.at = Date.now();
  try {
    const offered = await get<Abilities>(`/api/abilities?${query}`);
    found.value.value = offered;
    if (!offered.commands.length && tries < MOST) setTimeout(() => !isGone(query) && void load(query, found, tries + 1), SOON * 2 ** tries);
  } catch {
    found.value.value ??= NOTHING;
  }
}

function isGone(query: string): boolean {
  return removed.peek().has(new URLSearchParams(query).get("session") ?? "");
}
