/** What an answer does: refuse, answer a question, or allow something. An unknown answer counts as allowing. Pure. */
import type { Answer } from "../feed/model";
import type { Weight } from "../intent";

export function weightOf(answer: Answer): Weight {
  if ("answers" in answer) return "answer";
  if ("allow" in answer) return answer.allow === false ? "refuse" : "grant";
  if ("approve" in answer) return answer.approve === false ? "refuse" : "grant";
  if ("outline" in answer) return "refuse";
  if ("action" in answer) return answer.action === "decline" || answer.action === "cancel" ? "refuse" : "grant";
  if ("trust" in answer) return answer.trust === "without" || answer.trust === "never" ? "refuse" : "grant";
  return "grant";
}
