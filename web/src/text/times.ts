/** How times and amounts are said. Pure. */

/** `12 s`, `3 min`, `2 h`, `5 d`. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `4:05`, `1:02:09`. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const two = (number: number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

const CLOCK = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat([], { month: "short", day: "numeric" });

/** `14:02`, with the day in front where it is not today. */
export function moment(at: string): string {
  const date = new Date(at);
  const time = CLOCK.format(date);
  return date.toDateString() === new Date().toDateString() ? time : `${DAY.format(date)} ${time}`;
}

export function dollars(amount: number): string {
  return amount === 0 ? "$0" : amount < 0.01 ? "< $0.01" : `$${amount.toFixed(2)}`;
}
