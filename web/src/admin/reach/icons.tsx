/** The icons of channels. All are decoration: text says the same. */

const PATHS = {
  screens: "M3 5h18v11H3zM9 20h6M12 16v4",
  push: "M6 16v-5a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4",
  telegram: "M21 4 3 11l6 2.5M21 4l-3.5 16L9 13.5M21 4 9 13.5V20l3.2-3.8",
  ntfy: "M8 3h8v18H8zM11 18h2",
  email: "M3 6h18v12H3zM3 7l9 6 9-6",
  apprise: "M4 5h16v11H9l-5 4z",
  nobody: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM5.7 5.7l12.6 12.6",
} as const;

export type ReachIconName = keyof typeof PATHS;

export function ReachIcon({ name }: { name: ReachIconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** By the channel's ID; `kind` is that of a channel that a person added. */
export function iconOf(channel: string, kind: ReachIconName | undefined): ReachIconName {
  if (channel === "push" || channel === "telegram" || channel === "screens") return channel;
  return channel ? (kind ?? "apprise") : "nobody";
}
