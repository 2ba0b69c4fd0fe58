/** Names for the hub's codes: where something was done, and who did it. Pure, except for the language. */
import type { Actor } from "../feed/model";
import { t, textOr } from "../texts";
import { reveal } from "./reveal";

/** From where: the web, a terminal. An agent's own name stays as it is. */
export function sourceName(source: string): string {
  return textOr(`page.source.${source}`, reveal(source));
}

/** Who: a person, the hub itself, or a rule by its id. */
export function actorName(by: Actor): string {
  if (by.kind === "rule") return t("page.by_rule", { id: reveal(by.rule) });
  return by.kind === "hub" ? t("page.source.hub") : reveal(by.name);
}
