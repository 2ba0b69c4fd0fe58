/** Why somebody was asked, or which rule decided; and the way to a rule of one's own. */
import type { Ask } from "../feed/model";
import { Quoted } from "../parts/Quoted";
import { may } from "../store/desk";
import { drafting } from "../rules/drafting";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";

export function Why({ ask }: { ask: Ask }) {
  const by = ask.settlement?.state === "answered" ? ask.settlement.by : null;
  return (
    <>
      <p>
        <Quoted text={reveal(ask.why || t.card.noWhy)} />
      </p>
      {ask.kind === "permission" && ask.body.reason && (
        <p>
          {t.permission.says}: {reveal(ask.body.reason)}
        </p>
      )}
      {ask.kind === "permission" && (
        <p class="row-of-buttons">
          {may("admin") && (
            <button type="button" onClick={() => (drafting.value = ask)}>
              {t.card.makeRule}
            </button>
          )}
          <a data-inside href={by?.kind === "rule" ? `/admin/rules#${encodeURIComponent(by.rule)}` : "/admin/rules"}>
            {by?.kind === "rule" ? t.card.thisRule : t.card.allRules}
          </a>
        </p>
      )}
    </>
  );
}
