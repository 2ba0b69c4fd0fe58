/** What Claude offers where a session runs: asked for when it is needed, and remembered for a while. */
import { signal, type ReadonlySignal } from "@preact/signals";
import type { Abilities } from "../generated/api";
import { get } from "../store/http";

const FRESH = 60_000;
const NOTHING: Abilities = { commands: [], models: [] };
const known = new Map<string, { at: number; value: ReturnType<typeof signal<Abilities | null>> }>();

/** By a query of `/api/abilities`, such as `session=s_1`. Null until the hub has answered; old values stay meanwhile. */
export function abilitiesOf(query: string): ReadonlySignal<Abilities | null> {
  let found = known.get(query);
  if (!found) known.set(query, (found = { at: 0, value: signal<Abilities | null>(null) }));
  if (Date.now() - found.at > FRESH) {
    found.at = Date.now();
    void load(query, found);
  }
  return found.value as ReadonlySignal<Abilities | null>;
}

async function load(query: string, found: { at: number; value: { value: Abilities | null | undefined } }): Promise<void> {
  try {
    const offered = await get<Abilities>(`/api/abilities?${query}`);
    found.value.value = offered;
    // Claude may not have started yet: ask again next time.
    if (!offered.commands.length) found.at = 0;
  } catch {
    found.at = 0;
    found.value.value ??= NOTHING;
  }
}
