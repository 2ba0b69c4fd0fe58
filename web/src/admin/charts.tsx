/** Bars per day, and rows of bars. Each shows its numbers on hover; the table has them for everyone. */
import type { Day } from "./numbers";

const [WIDTH, HEIGHT, TOP] = [560, 130, 18];

interface BarsProps {
  days: readonly Day[];
  /** From bottom to top. */
  stacks: ((day: Day) => number)[];
  say: (day: Day) => string;
  /** What the full height stands for; the highest day by default. */
  most?: number;
}

export function Bars({ days, stacks, say, most }: BarsProps) {
  const total = (day: Day) => stacks.reduce((sum, of) => sum + of(day), 0);
  const top = most ?? Math.max(1, ...days.map(total));
  const step = WIDTH / days.length;
  const every = Math.ceil(days.length / 14);
  const scale = (HEIGHT - TOP) / top;
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + 20}`} role="img" aria-label={days.map((day) => `${day.day}: ${say(day)}`).join(", ")}>
      <line class="grid" x1="0" x2={WIDTH} y1={TOP + 0.5} y2={TOP + 0.5} />
      <line class="grid" x1="0" x2={WIDTH} y1={(HEIGHT + TOP) / 2} y2={(HEIGHT + TOP) / 2} />
      <text x="0" y={TOP - 5}>
        {top}
      </text>
      {days.map((day, at) => (
        <DayBar key={day.day} x={at * step} width={step} title={`${day.day}: ${say(day)}`} label={at % every === 0 ? day.day.slice(8) : ""} heights={stacks.map((of) => of(day) * scale)} />
      ))}
      <line x1="0" x2={WIDTH} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
    </svg>
  );
}

interface DayBarProps {
  x: number;
  width: number;
  title: string;
  label: string;
  /** From bottom to top. */
  heights: number[];
}

/** The bar of one day. */
function DayBar({ x, width, title, label, heights }: DayBarProps) {
  const gap = Math.min(6, width / 4);
  let y = HEIGHT;
  return (
    <g>
      <title>{title}</title>
      <rect class="hit" x={x} width={width} y="0" height={HEIGHT} />
      {heights.map((height, index) => {
        y -= height;
        return height > 0 && <rect key={index} class={`bar key-${index}`} x={x + gap} width={width - 2 * gap} y={y} height={height} rx="2" />;
      })}
      {label && (
        <text x={x + width / 2} y={HEIGHT + 15} text-anchor="middle">
          {label}
        </text>
      )}
    </g>
  );
}

export function RowChart({ rows }: { rows: readonly { label: string; count: number }[] }) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  const step = (HEIGHT + 20) / rows.length;
  const long = (count: number) => (count / most) * (WIDTH - 120);
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + 20}`} role="img" aria-label={rows.map((row) => `${row.label}: ${row.count}`).join(", ")}>
      {rows.map((row, at) => (
        <g key={row.label}>
          <text x="62" y={at * step + step / 2 + 4} text-anchor="end">
            {row.label}
          </text>
          {row.count > 0 && <rect class="bar key-0" x="72" y={at * step + 4} height={step - 8} width={long(row.count)} rx="2" />}
          <text x={80 + long(row.count)} y={at * step + step / 2 + 4}>
            {row.count}
          </text>
        </g>
      ))}
    </svg>
  );
}
