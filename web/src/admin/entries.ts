/** An entry of the audit in a few words. Pure; all of it stands behind them. */
import type { Entry } from "../generated/api";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";

type Loose = Record<string, unknown>;

export function sayEntry(entry: Entry): string {
  const { detail } = entry;
  const answer = isObject(detail["answer"]) ? detail["answer"] : null;
  const about = [text(detail["tool"]) || text(detail["kind"]), text(detail["name"]), text(detail["role"]), text(detail["tried"])].filter(Boolean);
  const said = [answer ? sayAnswer(answer) : "", ...about.map((each) => `\`${reveal(each).replaceAll("`", "ˋ")}\``), reveal(text(detail["reason"]))];
  return said.filter(Boolean).join(" · ") || t.admin.details;
}

function sayAnswer(answer: Loose): string {
  if ("allow" in answer) return answer["allow"] === true ? [t.audit.allowed, t.audit.for[text(answer["for"])] ?? ""].filter(Boolean).join(" ") : quoted(t.audit.denied, answer["message"]);
  if ("approve" in answer) return answer["approve"] === true ? t.audit.approved : quoted(t.audit.sentBack, answer["message"]);
  if ("outline" in answer) return t.audit.outline;
  if ("trust" in answer) return t.audit.trust[text(answer["trust"])] ?? "";
  if ("action" in answer) return t.audit.forms[text(answer["action"])] ?? "";
  if (Array.isArray(answer["answers"])) return answer["answers"].map((each: unknown) => (isObject(each) ? sayChoice(each) : "")).join(" · ");
  return "";
}

function sayChoice(choice: Loose): string {
  const labels = Array.isArray(choice["labels"]) ? choice["labels"].map(String) : [];
  return reveal([...labels, text(choice["text"])].filter(Boolean).join(", "));
}

function quoted(what: string, message: unknown): string {
  return text(message) ? `${what}: “${reveal(text(message))}”` : what;
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
