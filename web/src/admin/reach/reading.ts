/** What the page reads from the hub. After each change all of it is read again: the picture shows what follows from it. */
import { useSignal, type Signal } from "@preact/signals";
import type { Chains, Channels, Mutes, Overview } from "../../generated/api";
import { explainError } from "../../store/http";
import { useResource, type Resource } from "../read";

export const BASE = "/api/notifications";

export interface Reach {
  overview: Resource<Overview>;
  channels: Resource<Channels>;
  chains: Resource<Chains>;
  mutes: Resource<Mutes>;
  /** Counts changes. */
  changed: Signal<number>;
  again: () => void;
}

export function useReach(): Reach {
  const overview = useResource<Overview>(BASE);
  const channels = useResource<Channels>(`${BASE}/channels`);
  const chains = useResource<Chains>(`${BASE}/chains`);
  const mutes = useResource<Mutes>(`${BASE}/mutes`);
  const changed = useSignal(0);
  const again = () => {
    for (const each of [overview, channels, chains, mutes]) each.again();
    changed.value += 1;
  };
  return { overview, channels, chains, mutes, changed, again };
}

export interface Runner {
  trouble: Signal<string | null>;
  busy: Signal<boolean>;
  /** Whether it worked. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
}

/** Does one thing at a time. An error is shown where it was started. */
export function useRunner(done: () => void = () => undefined): Runner {
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const run = async (work: () => Promise<unknown>) => {
    if (busy.value) return false;
    busy.value = true;
    trouble.value = null;
    try {
      await work();
      done();
      return true;
    } catch (error) {
      trouble.value = explainError(error);
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { trouble, busy, run };
}
