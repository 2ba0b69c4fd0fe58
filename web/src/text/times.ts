/** How times, amounts and lists are written in the current language. Otherwise pure. */
import { language, locale } from "../texts";

const UNITS = [
  ["day", 86_400, "d"],
  ["hour", 3600, "h"],
  ["minute", 60, "min"],
  ["second", 1, "s"],
] as const;

/** `12 s`, `3 min`, `2 h`, `5 d`: English uses symbols, as everywhere in Handraise. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [unit, size, symbol] = UNITS.find(([, least]) => seconds >= least) ?? UNITS[3];
  const count = Math.floor(seconds / size);
  if (language.peek().startsWith("en")) return `${count} ${symbol}`;
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "short" }).format(count);
}

/** `4:05`, `1:02:09`. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const two = (number: number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `14:02`; with the date if it isn't today, and the year if it isn't this one. */
export function moment(at: string, now = new Date()): string {
  const date = new Date(at);
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  if (date.toDateString() === now.toDateString()) return format(time, date);
  const year = date.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return format({ month: "short", day: "numeric", ...year, ...time }, date);
}

/** An hour of the day, such as `22:00`. */
export function hourOf(hour: number): string {
  return format({ hour: "numeric", minute: "2-digit" }, new Date(2000, 0, 1, hour));
}

/** An amount in US dollars. */
export function dollars(amount: number): string {
  if (amount === 0) return money(0, 0);
  return amount < 0.01 ? `< ${money(0.01, 2)}` : money(amount, 2);
}

/** A share between 0 and 1. */
export function percent(share: number): string {
  return new Intl.NumberFormat(locale(), { style: "percent" }).format(share);
}

/** `a`, `a and b`, `a, b, and c`. */
export function listed(items: string[]): string {
  return new Intl.ListFormat(locale()).format(items);
}

function money(amount: number, digits: number): string {
  return new Intl.NumberFormat(locale(), { style: "currency", currency: "USD", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(amount);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formatters are slow to create, and there are few. */
function format(options: Intl.DateTimeFormatOptions, date: Date): string {
  const key = locale() + JSON.stringify(options);
  let found = formats.get(key);
  if (!found) formats.set(key, (found = new Intl.DateTimeFormat(locale(), options)));
  return found.format(date);
}
