/** An audit entry in a few words. Pure; the complete entry is behind them. */
import type { Entry } from "../generated/api";
import { reveal, revealExactly } from "../text/reveal";
import type { TextValues } from "../generated/texts";
import { t, textOr } from "../texts";
import "./texts";

type AuditDetail = Record<string, unknown>;

export function sayEntry(entry: Entry): string {
  const { detail } = entry;
  const answer = isObject(detail["answer"]) ? detail["answer"] : null;
  const about = [text(detail["tool"]) || text(detail["kind"]), text(detail["name"]), text(detail["to"]), text(detail["role"]), text(detail["tried"])].filter(Boolean);
  const parts = [answer ? sayAnswer(answer) : "", ...about.map((each) => `\`${revealExactly(each).replaceAll("`", "ˋ")}\``), reveal(text(detail["reason"]))];
  return parts.filter(Boolean).join(" · ") || t("admin.audit.details");
}

/** Who did it, as a sentence; one that is not known here by its name. */
export function sentenceOf(event: string, who: string, name: string): string {
  const key = `admin.audit.sentence.${event.replaceAll(" ", "_")}` as keyof TextValues;
  return textOr(key, "") ? say(key, { who }) : t("admin.audit.sentence.unnamed", { who, event: name });
}

const say = t as (key: string, values: object) => string;

function sayAnswer(answer: AuditDetail): string {
  if ("allow" in answer)
    return answer["allow"] === true
      ? [t("admin.answer.allowed"), textOr(`admin.answer.for.${text(answer["for"])}`, "")].filter(Boolean).join(" ")
      : quoted(t("admin.answer.denied"), answer["message"]);
  if ("approve" in answer) return answer["approve"] === true ? t("admin.answer.approved") : quoted(t("admin.answer.sent_back"), answer["message"]);
  if ("outline" in answer) return t("admin.answer.outline");
  if ("trust" in answer) return textOr(`admin.answer.trust.${text(answer["trust"])}`, "");
  if ("action" in answer) return textOr(`admin.answer.form.${text(answer["action"])}`, "");
  if (Array.isArray(answer["answers"])) return answer["answers"].map((each: unknown) => (isObject(each) ? sayChoice(each) : "")).join(" · ");
  return "";
}

function sayChoice(choice: AuditDetail): string {
  const labels = Array.isArray(choice["labels"]) ? choice["labels"].map(String) : [];
  return reveal([...labels, text(choice["text"])].filter(Boolean).join(", "));
}

function quoted(what: string, message: unknown): string {
  return text(message) ? t("admin.quoted", { what, message: reveal(text(message)) }) : what;
}

function isObject(value: unknown): value is AuditDetail {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
