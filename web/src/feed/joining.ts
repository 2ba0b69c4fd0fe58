/** An action and its permission are one line once Claude has the answer: the action's. Pure. */
import type { Ask } from "./model";

/** Whether the line of the action says it all. Until then, and for everything else, the request has a line of its own. */
export function isJoined(ask: Ask | undefined): boolean {
  const settlement = ask?.settlement;
  return ask?.kind === "permission" && ask.delivered_at !== null && settlement?.state === "answered" && "allow" in settlement.answer && settlement.answer.allow;
}
