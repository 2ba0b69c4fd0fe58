/** Why a person was asked, or which rule decided; and a link to make a rule. */
import type { Ask } from "../feed/model";
import { Quoted } from "../parts/Quoted";
import { drafting } from "../rules/drafting";
import { may } from "../store/desk";
import { t } from "../texts";

export function Why({ ask }: { ask: Ask }) {
  const by = ask.settlement?.state === "answered" ? ask.settlement.by : null;
  return (
    <>
      <p>
        <Quoted text={ask.card.why || t("page.card.no_why")} />
      </p>
      {ask.kind === "permission" && !ask.card.only_once && (
        <p class="row-of-buttons">
          {may("admin") && (
            <button type="button" onClick={() => (drafting.value = ask)}>
              {t("page.card.make_rule")}
            </button>
          )}
          <a data-inside href={by?.kind === "rule" ? `/admin/rules#${encodeURIComponent(by.rule)}` : "/admin/rules"}>
            {by?.kind === "rule" ? t("page.card.this_rule") : t("page.card.all_rules")}
          </a>
        </p>
      )}
    </>
  );
}
