/** Delays as people type and read them: `30 s`, `2 min`, `1 h 30 min`. Pure. */
import { span } from "../../text/times";

const SIZES = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;
const NAMES = new Map(Object.entries({ d: 86_400, day: 86_400, h: 3600, hr: 3600, hour: 3600, m: 60, min: 60, minute: 60, s: 1, sec: 1, second: 1 }));
const PART = /(\d+(?:[.,]\d+)?)\s*([a-z]+)\.?\s*/y;
/** The longest delay of a step, in seconds. */
export const LONGEST = 7 * 86_400;

/** In seconds; null if it can't be read or is too long. `0` needs no unit. */
export function readDelay(text: string): number | null {
  const typed = text.trim().toLowerCase();
  if (/^0+$/.test(typed)) return 0;
  let seconds = 0;
  PART.lastIndex = 0;
  do {
    const [, amount, unit] = PART.exec(typed) ?? [];
    const size = NAMES.get(unit ?? "") ?? NAMES.get((unit ?? "").replace(/s$/, ""));
    if (!amount || !size) return null;
    seconds += Number(amount.replace(",", ".")) * size;
  } while (PART.lastIndex < typed.length);
  const whole = Math.round(seconds);
  return whole <= LONGEST ? whole : null;
}

/** As it is typed, in every language. */
export function writeDelay(seconds: number): string {
  return parts(seconds, (count, _, symbol) => `${count} ${symbol}`);
}

/** As it is read, in the current language. */
export function delayInWords(seconds: number): string {
  return parts(seconds, (count, size) => span(count * size * 1000));
}

function parts(seconds: number, say: (count: number, size: number, symbol: string) => string): string {
  let rest = Math.max(0, Math.round(seconds));
  const said: string[] = [];
  for (const [size, symbol] of SIZES) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count) said.push(say(count, size, symbol));
  }
  return said.join(" ") || say(0, 1, "s");
}
