/** A usage limit of the account in words, as `present/states.py` has it. */
import type { Session } from "../feed/model";
import { reveal } from "../text/reveal";
import { span } from "../text/times";
import { t } from "../texts";

type UsageLimit = Session["usage"][number];

const NAMES: Record<string, () => string> = {
  five_hour: () => t("card.usage.window.five_hour"),
  seven_day: () => t("card.usage.window.seven_day"),
  seven_day_opus: () => t("card.usage.window.seven_day_opus"),
  seven_day_sonnet: () => t("card.usage.window.seven_day_sonnet"),
  overage: () => t("card.usage.window.overage"),
};

/** Empty once it has started again, or if Claude doesn't say when it will. */
export function usageInWords(limit: UsageLimit, now: number): string {
  const left = limit.resets_at === null ? 0 : Date.parse(limit.resets_at) - now;
  if (!(left > 0)) return "";
  const name = Object.hasOwn(NAMES, limit.window) ? (NAMES[limit.window]?.() ?? "") : reveal(limit.window.replaceAll("_", " "));
  if (limit.reached) return t("card.usage.reached", { name, span: span(left) });
  if (limit.used === null) return t("card.usage.resets", { name, span: span(left) });
  return t("card.usage.used", { name, percent: Math.round(limit.used * 100), span: span(left) });
}
