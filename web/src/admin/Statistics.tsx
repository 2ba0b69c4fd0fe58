/** A small page of statistics, with hand-drawn charts. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Asks } from "../generated/api";
import type { Ask } from "../feed/model";
import { Field, Select } from "../parts/Form";
import { Unfolds } from "../parts/Folded";
import { Table } from "../parts/Table";
import { get, explainError } from "../store/http";
import { percent, span } from "../text/times";
import { t } from "../texts";
import { Bars, RowChart } from "./charts";
import { count, periodOf, type Day, type Numbers } from "./numbers";
import { ReachFigures } from "./reach/Figures";
import { Trouble } from "./read";

const SPANS = [14, 30, 90];
const PAGE = 1000;
/** At most this many asks are read for a chart. */
const MOST = 20_000;

/** Newest first, as far back as the span goes. */
async function readAsks(days: number): Promise<Ask[]> {
  const since = new Date(Date.now() - (days + 1) * 86_400_000).toISOString();
  const asks: Ask[] = [];
  for (let after = ""; asks.length < MOST; ) {
    const page = await get<Asks>(`/api/asks?texts=excerpt&order=newest&limit=${PAGE}${after}`);
    asks.push(...page.asks);
    if (page.next === null || (asks.at(-1)?.opened_at ?? "") < since) break;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
  return asks;
}

export function StatisticsPage() {
  const days = useSignal(14);
  const numbers = useSignal<Numbers | null>(null);
  const trouble = useSignal<string | null>(null);
  useEffect(() => {
    let here = true;
    readAsks(days.value).then(
      (asks) => here && (numbers.value = count(asks, Date.now(), days.value)),
      (error: unknown) => here && (trouble.value = explainError(error)),
    );
    return () => {
      here = false;
    };
  }, [days.value]);
  return (
    <>
      <div class="filters">
        <Field label={t("admin.statistics.period")}>
          <Select value={days.value} change={(value) => (days.value = Number(value))} options={SPANS.map((each) => [each, periodOf(each)])} />
        </Field>
      </div>
      <Trouble reading={{ trouble }} />
      {!numbers.value && !trouble.value && <p class="empty">{t("page.loading")}</p>}
      {numbers.value && (numbers.value.asks ? <Figures numbers={numbers.value} /> : <p class="empty">{t("admin.statistics.none")}</p>)}
      <ReachFigures days={days.value} />
    </>
  );
}

function Figures({ numbers }: { numbers: Numbers }) {
  const { days } = numbers;
  const share = (day: Day) => (day.people + day.rules ? Math.round((day.rules / (day.people + day.rules)) * 100) : 0);
  return (
    <>
      <div class="tiles">
        <Tile label={t("admin.statistics.total")} value={String(numbers.asks)} />
        <Tile label={t("admin.statistics.median")} value={numbers.median === null ? "–" : span(numbers.median)} />
        <Tile label={t("admin.statistics.slowest")} value={numbers.slow === null ? "–" : span(numbers.slow)} />
        <Tile label={t("admin.statistics.waited")} value={span(numbers.waited)} />
        <Tile label={t("admin.statistics.by_rules")} value={percent(numbers.byRule / numbers.asks)} />
      </div>
      <div class="charts">
        <Chart title={t("admin.statistics.per_day")} legend={[t("admin.statistics.people"), t("admin.statistics.rules")]}>
          <Bars days={days} stacks={[(day) => day.people, (day) => day.rules]} say={(day) => t("admin.statistics.day_detail", { people: day.people, rules: day.rules })} />
        </Chart>
        <Chart title={t("admin.statistics.time_to_answer")}>
          <RowChart rows={numbers.buckets} />
        </Chart>
        <Chart title={t("admin.statistics.minutes_waited")}>
          <Bars days={days} stacks={[(day) => Math.round(day.waited / 60_000)]} say={(day) => t("admin.statistics.minutes", { count: Math.round(day.waited / 60_000) })} />
        </Chart>
        <Chart title={t("admin.statistics.share")}>
          <Bars days={days} stacks={[share]} most={100} say={(day) => percent(share(day) / 100)} />
        </Chart>
      </div>
      <Unfolds title={t("admin.statistics.table")}>{() => <Days days={days} share={share} />}</Unfolds>
    </>
  );
}

function Chart({ title, legend, children }: { title: string; legend?: string[]; children: preact.ComponentChildren }) {
  return (
    <figure class="panel">
      <figcaption>
        {title}
        {legend && (
          <span class="legend">
            {legend.map((each, at) => (
              <span key={each} class={`key-${at}`}>
                {each}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      {children}
    </figure>
  );
}

function Tile({ label, value }: { label: string; value: string }) {
  return (
    <div class="tile">
      <strong>{value}</strong>
      <span class="quiet-text">{label}</span>
    </div>
  );
}

function Days({ days, share }: { days: readonly Day[]; share: (day: Day) => number }) {
  return (
    <Table
      label={t("admin.statistics.table")}
      heads={[t("admin.statistics.day"), t("admin.statistics.people"), t("admin.statistics.rules"), t("admin.statistics.minutes_waited"), t("admin.statistics.share")]}
    >
      {days.map((day) => (
        <tr key={day.day}>
          <td>{day.day}</td>
          <td>{day.people}</td>
          <td>{day.rules}</td>
          <td>{Math.round(day.waited / 60_000)}</td>
          <td>{percent(share(day) / 100)}</td>
        </tr>
      ))}
    </Table>
  );
}
