/** The header of a card: its kind and risk, who asks, and for how long. */
import { useComputed } from "@preact/signals";
import type { Ask } from "../feed/model";
import { Icon } from "../parts/Icons";
import { MachineName } from "../parts/MachineName";
import { now } from "../store/clock";
import { sessionOf } from "../store/desk";
import { pathOf } from "../store/place";
import { basename } from "../text/paths";
import { reveal } from "../text/reveal";
import { countdown, span } from "../text/times";
import { t } from "../texts";

export type Where = "inbox" | "chat";

export function CardHead({ ask, where, fold }: { ask: Ask; where: Where; fold: (() => void) | null }) {
  const { risk } = ask.card;
  return (
    <header class="who">
      <span class="kind">
        <Icon name={ask.kind} />
        {t(`card.kind.${ask.kind}`)}
      </span>
      <Asker ask={ask} where={where} />
      {risk.level === "high" && (
        <span class="risk">
          <Icon name="warning" />
          {risk.reason}
        </span>
      )}
      {ask.state === "open" && <Waited ask={ask} />}
      {fold && (
        <button type="button" class="quiet" aria-label={t("page.close")} onClick={fold}>
          <Icon name="close" />
        </button>
      )}
    </header>
  );
}

/** The session and its project, or the agent. */
function Asker({ ask, where }: { ask: Ask; where: Where }) {
  const session = sessionOf(ask.session);
  return (
    <span class="whose">
      {where === "inbox" && session && (
        <a data-inside href={pathOf({ view: "session", id: session.id })} title={t("page.card.open_conversation")}>
          {reveal(session.title)}
        </a>
      )}
      {where === "inbox" && session && <span class="quiet-text">{basename(session.directory)}</span>}
      {where === "inbox" && <MachineName of={ask} />}
      {(ask.agent || !session) && <span>{agentOf(ask)}</span>}
    </span>
  );
}

/** The name of the agent that asks. */
export function agentOf(ask: Ask): string {
  return ask.agent ? t("page.card.agent", { name: reveal(ask.agent) }) : t("page.card.external_agent");
}

/** How long it has waited, and how long it has left. */
export function Waited({ ask, short = false }: { ask: Ask; short?: boolean }) {
  const waited = useComputed(() => span(now.value - Date.parse(ask.opened_at)));
  const left = useComputed(() => (ask.expires_at === null ? null : Date.parse(ask.expires_at) - now.value)).value;
  return (
    <span class="waited">
      <span class="quiet-text">{short ? waited : t("card.waiting", { span: waited.value })}</span>
      {left !== null && (
        <span class={left < 60_000 ? "left soon" : "left"}>
          <Icon name="clock" />
          {t("card.left", { span: countdown(left) })}
        </span>
      )}
    </span>
  );
}
