/** The outcome of an ask, in one line that unfolds again. */
import type { Ask, Answered } from "../feed/model";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { Alert } from "../parts/Alert";
import { isMe, sessionOf } from "../store/desk";
import { awayOf } from "../store/machines";
import { sourceName } from "../text/names";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t } from "../texts";
import type { Stage } from "./stage";

/** `named`: the session isn't shown around it, so the line names it. */
export function OutcomeLine({ ask, stage, named, unfold }: { ask: Ask; stage: Stage; named: boolean; unfold: () => void }) {
  const session = sessionOf(ask.session);
  const denied = "settlement" in stage && "allow" in stage.settlement.answer && !stage.settlement.answer.allow;
  return (
    <section id={`card-${ask.id}`} class={`line-card ${ask.kind} stage-${stage.is}${denied ? " denied" : ""}`}>
      <button type="button" class="folded" aria-expanded={false} title={t("page.card.unfold")} onClick={unfold}>
        <Icon name={ask.kind} />
        <span class="line-text">
          <Quoted text={lineOf(ask, stage)} />
          {named && session && <span class="quiet-text"> · {reveal(session.title)}</span>}
        </span>
        {stage.is === "answered" && !stage.delivered && <span class="waiting">{undelivered(ask)}</span>}
        {stage.is === "expired" && <span class="waiting">{t("page.card.answer_late")}</span>}
        <Icon name="down" />
      </button>
      <Alert text={stage.trouble} />
    </section>
  );
}

function undelivered(ask: Ask): string {
  const away = awayOf(ask);
  return away ? t("page.machine.undelivered", { name: reveal(away.name) }) : t("page.card.undelivered");
}

/** The hub's words, with place and time. */
export function lineOf(ask: Ask, stage: Stage): string {
  const { headline, outcome } = ask.card;
  switch (stage.is) {
    case "answered":
      return [...answeredBy(ask, stage.settlement), ...(stage.delivered ? [t("page.card.delivered")] : [])].join(" · ");
    case "late":
      return [...answeredBy(ask, stage.settlement), t("page.card.late")].join(" · ");
    case "expired":
    case "withdrawn":
      return [headline, ...(outcome ? [outcome.text] : []), moment(stage.at)].join(" · ");
    default:
      return headline;
  }
}

function answeredBy({ card: { headline, outcome } }: Ask, { by, from, at }: Answered): string[] {
  const text = isMe(by) ? outcome?.yours : outcome?.text;
  return [text ?? headline, ...(by.kind === "person" ? [sourceName(from)] : []), moment(at)];
}
