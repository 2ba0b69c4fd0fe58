/** Asks with all of their texts. The feed brings excerpts of the longest ones; the rest is fetched when a person wants to see or edit it. */
import { signal } from "@preact/signals";
import type { DiffPart } from "../generated/api";
import type { FetchPart } from "../diff/source";
import type { Ask } from "../feed/model";
import { get } from "./http";

const MOST = 3;
const wholes = signal<ReadonlyMap<string, Ask>>(new Map());

/** The ask itself if nothing in it is cut; undefined while the rest isn't here. */
export function wholeOf<A extends Ask>(ask: A): A | undefined {
  if (!ask.cut) return ask;
  const found = wholes.value.get(ask.id);
  return found && found.digest === ask.digest ? ({ ...ask, body: found.body, cut: false } as A) : undefined;
}

/** Rejects if it can't be fetched, or if it isn't the same request any more. */
export async function fetchWhole(ask: Ask): Promise<void> {
  if (wholeOf(ask)) return;
  const whole = await get<Ask>(`/api/asks/${encodeURIComponent(ask.id)}`);
  if (whole.cut || whole.digest !== ask.digest) throw new Error("another request");
  wholes.value = new Map([...[...wholes.peek()].slice(1 - MOST), [ask.id, whole]]);
}

/** Gets lines of a diff in its evidence. */
export function partsOf(ask: Ask, evidence: number): FetchPart {
  return (first, limit) => get<DiffPart>(`/api/asks/${encodeURIComponent(ask.id)}/evidence/${evidence}?first=${first}&limit=${limit}`);
}
