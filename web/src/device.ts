/** A browser's name, as a person would say it. Pure. */
const BROWSERS: [RegExp, string][] = [
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\//, "Chrome"],
  [/AppleWebKit\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPod/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/CrOS/, "ChromeOS"],
  [/Windows/, "Windows"],
  [/Macintosh|Mac OS X/, "Mac"],
  [/Linux/, "Linux"],
];

export function describe(userAgent: string): string {
  const find = (table: [RegExp, string][]) => table.find(([mark]) => mark.test(userAgent))?.[1];
  return [find(BROWSERS) ?? "Browser", find(SYSTEMS)].filter(Boolean).join(" on ");
}
