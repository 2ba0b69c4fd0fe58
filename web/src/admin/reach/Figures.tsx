/** How well people are reached: how long until someone looked and answered, by channel and step, and what wasn't needed. */
import type { ChannelStatistics, Spread, Statistics } from "../../generated/api";
import { Table } from "../../parts/Table";
import { percent, span } from "../../text/times";
import { t } from "../../texts";
import { Trouble, useResource } from "../read";
import { BASE } from "./reading";
import { channelName } from "./words";
import "../../styles/reach.css";

export function ReachFigures({ days }: { days: number }) {
  const reading = useResource<Statistics>(`${BASE}/statistics?days=${days}`);
  const found = reading.value.value?.statistics;
  const link = (format: "csv" | "json") => `${BASE}/export?days=${days}&format=${format}`;
  return (
    <section class="stack reach-figures" aria-labelledby="reach-title">
      <h2 id="reach-title">{t("notifications.statistics.title")}</h2>
      <Trouble reading={reading} />
      {found && (
        <>
          <div class="tiles">
            <Tile label={t("notifications.statistics.noticed")} value={median(found.noticed)} />
            <Tile label={t("notifications.statistics.answered")} value={median(found.to_answer)} />
            <Tile label={t("notifications.statistics.waited")} value={String(Math.round(found.minutes_waited))} />
            <Tile label={t("notifications.statistics.sent")} value={String(found.notifications)} />
            <Tile label={t("notifications.statistics.unneeded")} value={found.unneeded ? `${found.unneeded} (${percent(found.unneeded / found.notifications)})` : "0"} />
          </div>
          {found.channels.length ? <ByChannel channels={found.channels} /> : <p class="quiet-text">{t("notifications.statistics.none")}</p>}
          <p class="quiet-text">{t("notifications.statistics.unneeded_hint")}</p>
        </>
      )}
      <p class="log-foot">
        <a href={link("csv")} download>
          {t("notifications.statistics.export_csv")}
        </a>
        <a href={link("json")} download>
          {t("notifications.statistics.export_json")}
        </a>
      </p>
    </section>
  );
}

function ByChannel({ channels }: { channels: readonly ChannelStatistics[] }) {
  const heads = [
    t("notifications.statistics.channel"),
    t("notifications.statistics.step"),
    t("notifications.statistics.count"),
    t("notifications.statistics.failed"),
    t("notifications.statistics.held"),
    t("notifications.statistics.unneeded"),
    t("notifications.statistics.until_noticed"),
    t("notifications.statistics.until_answered"),
  ];
  return (
    <Table label={t("notifications.statistics.by_channel")} heads={heads}>
      {shownOf(channels).map((each) => (
        <tr key={`${each.channel} ${each.step}`}>
          <td class="detail">{channelName(each)}</td>
          <td>{each.step === null ? t("notifications.statistics.all_steps") : each.step + 1}</td>
          <td>{each.sent}</td>
          <td>{each.failed}</td>
          <td>{each.held}</td>
          <td>{each.unneeded}</td>
          <td class="nowrap">{median(each.noticed)}</td>
          <td class="nowrap">{median(each.answered)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A channel with one step only needs no sum. */
function shownOf(channels: readonly ChannelStatistics[]): ChannelStatistics[] {
  return channels.filter(({ channel, step }) => step !== null || channels.filter((each) => each.channel === channel).length > 2);
}

function median(of: Spread): string {
  return of.count ? span(of.median * 1000) : "–";
}

function Tile({ label, value }: { label: string; value: string }) {
  return (
    <div class="tile">
      <strong>{value}</strong>
      <span class="quiet-text">{label}</span>
    </div>
  );
}
