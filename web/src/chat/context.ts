/** How full the context is after a turn, and what the turn used. Pure; odd values count as none. */
import type { ItemOf } from "../feed/model";

export interface ContextShare {
  used: number;
  limit: number;
  /** From 0 to 1; null if the limit isn't known. */
  part: number | null;
}

export function contextOf({ context, context_limit }: Partial<ItemOf<"turn.ended">>): ContextShare | null {
  // Items of older hubs have neither.
  if (!context) return null;
  return { used: context, limit: context_limit ?? 0, part: context_limit ? context / context_limit : null };
}

const IN = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

export function tokensOf({ usage }: Pick<ItemOf<"turn.ended">, "usage">): { input: number; output: number } | null {
  const input = IN.reduce((sum, name) => sum + count(usage[name]), 0);
  const output = count(usage["output_tokens"]);
  return input || output ? { input, output } : null;
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
