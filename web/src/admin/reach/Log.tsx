/** What was sent about the newest requests, when and where; and what was not sent, and why. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AskLog, Log as LogPage, LogEntry } from "../../generated/api";
import { Unfolds } from "../../parts/Folded";
import { Quoted } from "../../parts/Quoted";
import { askOf, projects, sessionOf } from "../../store/desk";
import { pathOf } from "../../store/place";
import { reveal } from "../../text/reveal";
import { moment, span } from "../../text/times";
import { t, textOr } from "../../texts";
import { Loading, Trouble, useResource } from "../read";
import { iconOf, ReachIcon, type ReachIconName } from "./icons";
import { BASE, type Reach } from "./reading";
import { channelName, personName, stateOf } from "./words";

const FEW = 10;
const MOST = 200;

export function Log({ reach }: { reach: Reach }) {
  const limit = useSignal(FEW);
  const reading = useResource<LogPage>(`${BASE}/log?limit=${limit.value}`);
  const changed = reach.changed.value;
  useEffect(() => {
    if (changed) reading.again();
  }, [changed]);
  const asks = reading.value.value?.asks;
  const kinds = new Map((reach.channels.value.value?.channels ?? []).map(({ id, kind }) => [id, kind]));
  return (
    <section class="panel stack" aria-labelledby="log-title">
      <div>
        <h2 id="log-title">{t("notifications.log.title")}</h2>
        <p class="quiet-text">{t("notifications.log.hint")}</p>
      </div>
      <Trouble reading={reading} />
      {!asks && <Loading reading={reading} />}
      {asks?.length === 0 && <p class="quiet-text">{t("notifications.log.none")}</p>}
      {asks && asks.length > 0 && (
        <ul class="notice-log">
          {asks.map((each) => (
            <OneAsk key={each.ask} log={each} kinds={kinds} />
          ))}
        </ul>
      )}
      {asks && asks.length === limit.value && limit.value < MOST && (
        <button type="button" class="more" onClick={() => (limit.value = MOST)}>
          {t("notifications.log.more")}
        </button>
      )}
    </section>
  );
}

function OneAsk({ log, kinds }: { log: AskLog; kinds: ReadonlyMap<string, ReachIconName> }) {
  const href = `${log.session ? pathOf({ view: "session", id: log.session }) : "/"}#card-${encodeURIComponent(log.ask)}`;
  const delay = log.noticed_at ? span(Date.parse(log.noticed_at) - Date.parse(log.opened_at)) : "";
  return (
    <li>
      <Unfolds title={<Summary log={log} />}>
        {() => (
          <>
            <ul class="chain-rows">
              {log.entries.map((entry, at) => (
                <Entry key={at} entry={entry} icon={iconOf(entry.channel, kinds.get(entry.channel))} />
              ))}
            </ul>
            <p class="quiet-text log-foot">
              {log.noticed_by && <span>{t("notifications.log.noticed", { name: reveal(log.noticed_by), delay })}</span>}
              <a data-inside href={href}>
                {t("notifications.log.open")}
              </a>
            </p>
          </>
        )}
      </Unfolds>
    </li>
  );
}

function Summary({ log }: { log: AskLog }) {
  const ask = askOf(log.ask);
  const where = sessionOf(log.session)?.title ?? projects.value.find((each) => each.id === log.project)?.name ?? "";
  return (
    <span class="log-line">
      <strong>{ask ? <Quoted text={ask.card.headline} /> : textOr(`card.kind.${log.kind}`, log.kind)}</strong>
      <span class="quiet-text">{[moment(log.opened_at), reveal(where), countsOf(log.entries)].filter(Boolean).join(" · ")}</span>
    </span>
  );
}

function countsOf(entries: readonly LogEntry[]): string {
  const count = (...states: LogEntry["state"][]) => entries.filter(({ state }) => states.includes(state)).length;
  const [sent, failed, notSent] = [count("sent", "retracted", "sending"), count("failed"), count("held", "skipped")];
  const said = [
    sent && t("notifications.log.summary.sent", { count: sent }),
    failed && t("notifications.log.summary.failed", { count: failed }),
    notSent && t("notifications.log.summary.not_sent", { count: notSent }),
  ].filter(Boolean);
  return said.join(", ") || t("notifications.log.summary.nothing");
}

function Entry({ entry, icon }: { entry: LogEntry; icon: ReachIconName }) {
  return (
    <li class={`chain-row log-row ${entry.state}`}>
      <ReachIcon name={icon} />
      <span class="chain-who">
        {channelName(entry)} <span class="quiet-text">{[personName(entry.person), t("notifications.log.step", { number: entry.step + 1 })].filter(Boolean).join(" · ")}</span>
      </span>
      <span class="chain-effect">
        <time dateTime={entry.at}>{moment(entry.at)}</time>
        <span>
          <Quoted text={stateOf(entry)} />
        </span>
      </span>
    </li>
  );
}
