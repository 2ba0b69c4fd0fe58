/** What became of an ask, in one line that keeps the truth and unfolds again. */
import type { Ask, Answered } from "../feed/model";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { isMe, sessionOf } from "../store/desk";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t } from "../texts";
import { outcome, sentence } from "./sentence";
import type { Stage } from "./stage";

/** `named`: the session is not around it, and stands in the line. */
export function Line({ ask, stage, named, unfold }: { ask: Ask; stage: Stage; named: boolean; unfold: () => void }) {
  const session = sessionOf(ask.session);
  const denied = "settlement" in stage && "allow" in stage.settlement.answer && !stage.settlement.answer.allow;
  return (
    <section id={`card-${ask.id}`} class={`line-card ${ask.kind} stage-${stage.is}${denied ? " denied" : ""}`}>
      <button type="button" class="folded" aria-expanded={false} title={t("page.card.unfold")} onClick={unfold}>
        <Icon name={ask.kind} />
        <span class="line-text">
          <Quoted text={lineOf(ask, stage, session?.directory ?? null)} />
          {named && session && <span class="quiet-text"> · {reveal(session.title)}</span>}
        </span>
        {stage.is === "answered" && !stage.delivered && <span class="waiting">{t("page.card.undelivered")}</span>}
        {stage.is === "expired" && <span class="waiting">{t("page.card.answer_late")}</span>}
        <Icon name="down" />
      </button>
      {stage.trouble && (
        <p class="note trouble" role="alert">
          {reveal(stage.trouble)}
        </p>
      )}
    </section>
  );
}

export function lineOf(ask: Ask, stage: Stage, directory: string | null): string {
  switch (stage.is) {
    case "answered":
      return [...partsOf(ask, stage.settlement, directory), ...(stage.delivered ? [t("page.card.delivered")] : [])].join(" · ");
    case "late":
      return [...partsOf(ask, stage.settlement, directory), t("page.card.late")].join(" · ");
    case "expired":
      return `${sentence(ask, directory)} · ${t("page.card.expired", { time: moment(stage.at) })}`;
    case "withdrawn":
      return `${sentence(ask, directory)} · ${t("page.card.withdrawn", { reason: reveal(stage.reason), time: moment(stage.at) })}`;
    default:
      return sentence(ask, directory);
  }
}

function partsOf(ask: Ask, { answer, by, from, at }: Answered, directory: string | null): string[] {
  return [outcome(ask, answer, by, isMe(by), directory), ...(by.kind === "rule" ? [] : [reveal(from)]), moment(at)];
}
