/** A small page of numbers, with charts drawn by hand. */
import type { Asks } from "../generated/api";
import type { Ask } from "../feed/model";
import { span } from "../store/clock";
import { texts as t } from "../texts";
import { count, type Numbers } from "./numbers";
import { Trouble, useReading } from "./read";

export function StatisticsPage() {
  const reading = useReading<Asks>("/api/asks");
  const asks = reading.value.value?.asks as unknown as Ask[] | undefined;
  if (!asks) return <Trouble reading={reading} />;
  if (!asks.length) return <p class="empty">{t.admin.noStats}</p>;
  const numbers = count(asks, Date.now());
  return (
    <>
      <div class="tiles">
        <Tile says={t.admin.asksInAll} value={String(numbers.asks)} />
        <Tile says={`${t.admin.timeToAnswer}, ${t.admin.median.toLowerCase()}`} value={numbers.median === null ? "–" : span(numbers.median)} />
        <Tile says={`${t.admin.timeToAnswer}, ${t.admin.slowest.toLowerCase()}`} value={numbers.slow === null ? "–" : span(numbers.slow)} />
        <Tile says={t.admin.waitedTotal} value={span(numbers.waited)} />
        <Tile says={t.admin.byRules} value={`${Math.round((numbers.byRule / numbers.asks) * 100)} %`} />
      </div>
      <figure class="panel">
        <figcaption>
          {t.admin.perDay}, {t.admin.last14}
        </figcaption>
        <Days days={numbers.days} />
      </figure>
      <figure class="panel">
        <figcaption>{t.admin.timeToAnswer}</figcaption>
        <Buckets buckets={numbers.buckets} />
      </figure>
    </>
  );
}

function Tile({ says, value }: { says: string; value: string }) {
  return (
    <div class="tile">
      <strong>{value}</strong>
      <span class="quiet-text">{says}</span>
    </div>
  );
}

const [WIDTH, HEIGHT] = [560, 120];

function Days({ days }: { days: Numbers["days"] }) {
  const most = Math.max(1, ...days.map((day) => day.people + day.rules));
  const step = WIDTH / days.length;
  const told = days.map((day) => `${day.day}: ${day.people + day.rules}`).join(", ");
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + 20}`} role="img" aria-label={told}>
      <text x="0" y="10">{most}</text>
      {days.map((day, at) => {
        const people = (day.people / most) * (HEIGHT - 16);
        const rules = (day.rules / most) * (HEIGHT - 16);
        return (
          <g key={day.day}>
            <rect class="bar" x={at * step + 6} width={step - 12} y={HEIGHT - people} height={people} rx="2" />
            <rect class="bar rules" x={at * step + 6} width={step - 12} y={HEIGHT - people - rules} height={rules} rx="2" />
            <text x={at * step + step / 2} y={HEIGHT + 15} text-anchor="middle">
              {day.day.slice(8)}
            </text>
          </g>
        );
      })}
      <line x1="0" x2={WIDTH} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
    </svg>
  );
}

function Buckets({ buckets }: { buckets: Numbers["buckets"] }) {
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const told = buckets.map((bucket) => `${bucket.label}: ${bucket.count}`).join(", ");
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${buckets.length * 24}`} role="img" aria-label={told}>
      {buckets.map((bucket, at) => (
        <g key={bucket.label}>
          <text x="0" y={at * 24 + 15}>{bucket.label}</text>
          <rect class="bar" x="60" y={at * 24 + 4} height="14" width={(bucket.count / most) * (WIDTH - 110)} rx="2" />
          <text x={66 + (bucket.count / most) * (WIDTH - 110)} y={at * 24 + 15}>{bucket.count}</text>
        </g>
      ))}
    </svg>
  );
}
