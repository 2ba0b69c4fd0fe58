/** The stage of a card as this browser sees it: the ask's own state and the progress of an answer given here. Pure. */
import type { Answer, Answered, Ask } from "../feed/model";
import type { Sending } from "../store/sending";

export type Stage = { trouble: string | null } & (
  | { is: "open" }
  | { is: "sending" | "sent"; answer: Answer }
  | { is: "queued"; answer: Answer; reason: string | null }
  | { is: "answered"; settlement: Answered; delivered: boolean }
  | { is: "expired"; at: string }
  | { is: "late"; settlement: Answered }
  | { is: "withdrawn"; reason: string; at: string }
);

/** `trouble` is why an answer given here was not used. */
export function stageOf(ask: Ask, sent: Sending | undefined): Stage {
  const trouble = sent?.state === "refused" ? sent.message : null;
  const { settlement } = ask;
  switch (settlement?.state) {
    case "answered":
      return { is: "answered", settlement, delivered: ask.delivered_at !== null, trouble };
    case "withdrawn":
      return { is: "withdrawn", reason: settlement.reason, at: settlement.at, trouble };
    case "expired":
      if (settlement.late) return { is: "late", settlement: settlement.late, trouble };
      // A dialog of Claude Code itself is gone when its time is up: nobody could be told of a late answer.
      if (ask.kind === "question" && ask.body.dialog) return { is: "withdrawn", reason: "", at: settlement.at, trouble };
      return underway(sent, trouble) ?? { is: "expired", at: settlement.at, trouble };
    default:
      return underway(sent, trouble) ?? { is: "open", trouble };
  }
}

function underway(sent: Sending | undefined, trouble: string | null): Stage | null {
  if (!sent || sent.state === "refused") return null;
  return sent.state === "queued" ? { is: "queued", answer: sent.answer, reason: sent.reason, trouble } : { is: sent.state, answer: sent.answer, trouble };
}
