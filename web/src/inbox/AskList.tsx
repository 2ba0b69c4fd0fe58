/** Open asks, one of them unfolded, the others one line each. Identical ones are grouped. */
import { useComputed } from "@preact/signals";
import { Card } from "../cards/Card";
import { agentOf, Waited } from "../cards/Head";
import type { Ask } from "../feed/model";
import { DangerMark } from "../parts/DangerMark";
import { Icon } from "../parts/Icons";
import { machineLabel } from "../parts/MachineName";
import { memo } from "../parts/memo";
import { Quoted } from "../parts/Quoted";
import { may, sessionOf } from "../store/desk";
import { chosen } from "../store/place";
import { sending } from "../store/sending";
import { group, mates, wasLookedAt } from "../store/together";
import { basename } from "../text/paths";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { sameOf, type Same } from "./same";

/** `open` is the unfolded one. */
export function AskList({ asks, open }: { asks: readonly Ask[]; open: string | null }) {
  return (
    <>
      {sameOf(asks).map((same) => {
        const [first] = same.asks;
        if (same.asks.length > 1) return <IdenticalAsks key={first?.id} same={same} open={open} />;
        return first && (first.id === open ? <Card key={first.id} ask={first} where="inbox" /> : <Waiting key={first.id} ask={first} />);
      })}
    </>
  );
}

const Waiting = memo(({ ask, count = 1 }: { ask: Ask; count?: number }) => {
  return (
    <button type="button" class="waiting-row" onClick={() => (chosen.value = ask.id)}>
      <Icon name={ask.kind} />
      <span class="waiting-text">
        <span class="waiting-question">
          <DangerMark ask={ask} />
          <Quoted text={ask.card.headline} />
        </span>
        <span class="quiet-text one-line">{count > 1 ? t("page.inbox.identical", { count }) : ownerOf(ask)}</span>
        <Underway ask={ask} />
      </span>
      <Waited ask={ask} short />
    </button>
  );
});

/** A folded one still shows the progress of its answer. */
function Underway({ ask }: { ask: Ask }) {
  const sent = useComputed(() => sending.value.get(ask.id)).value;
  if (!sent) return null;
  if (sent.state === "refused") return <span class="trouble">{reveal(sent.message)}</span>;
  if (sent.state === "queued") return <span class="trouble">{sent.reason ? t("page.card.unsent_trouble") : t("page.card.unsent_offline")}</span>;
  return <span class="quiet-text">{t("page.card.sending")}</span>;
}

/** Identical asks: each can be reviewed, and then all answered together. */
function IdenticalAsks({ same, open }: { same: Same; open: string | null }) {
  const { asks } = same;
  const [first] = asks;
  if (!first) return null;
  const shown = asks.find((ask) => ask.id === open);
  if (!shown) return <Waiting ask={first} count={asks.length} />;
  return (
    <section class="alike" aria-label={t("page.inbox.identical", { count: asks.length })}>
      <header class="alike-head">
        <h2>{t("page.inbox.identical", { count: asks.length })}</h2>
        <Together asks={asks} shown={shown} />
      </header>
      <ol class="alike-list">
        {asks.map((ask) => (
          <li key={ask.id}>
            <button type="button" class="alike-row" aria-expanded={ask === shown} onClick={() => (chosen.value = ask.id)}>
              <Icon name={wasLookedAt(ask) ? "check" : "dot"} />
              <span class="one-line">{ownerOf(ask)}</span>
              <span class="unseen">{wasLookedAt(ask) ? t("page.inbox.reviewed") : t("page.inbox.not_reviewed")}</span>
              <Underway ask={ask} />
              <Waited ask={ask} short />
            </button>
          </li>
        ))}
      </ol>
      <Card key={shown.id} ask={shown} where="inbox" />
    </section>
  );
}

function Together({ asks, shown }: { asks: readonly Ask[]; shown: Ask }) {
  const ready = asks.every(wasLookedAt);
  const chosenTogether = mates(shown);
  return (
    <label class="tick" title={ready ? undefined : t("page.inbox.review_first")}>
      <input type="checkbox" checked={chosenTogether.length > 0} disabled={!may("approver") || (!ready && !chosenTogether.length)} onChange={(event) => group(asks, event.currentTarget.checked)} />
      <span>
        {t("page.inbox.answer_all", { count: chosenTogether.length || asks.length })}
        {!ready && <small class="quiet-text">{chosenTogether.length ? t("page.inbox.later") : t("page.inbox.review_first")}</small>}
      </span>
    </label>
  );
}

function ownerOf(ask: Ask): string {
  const session = sessionOf(ask.session);
  const names = session ? [reveal(session.title), basename(session.directory)] : [];
  const machine = machineLabel(ask);
  if (machine) names.push(machine);
  return [...names, ...(ask.agent || !session ? [agentOf(ask)] : [])].join(" · ");
}
