/** The icons of the page, drawn with strokes. All are decoration: text says the same. */

const PATHS = {
  hand: "M7 11V5.5a1.5 1.5 0 0 1 3 0V10m0-5.5v-1a1.5 1.5 0 0 1 3 0V10m0-5a1.5 1.5 0 0 1 3 0v6m0-3.5a1.5 1.5 0 0 1 3 0V15a6 6 0 0 1-6 6h-1.5a6 6 0 0 1-4.6-2.2L4 14.5a1.6 1.6 0 0 1 2.4-2.1L8 14",
  question: "M9 9.2a3 3 0 1 1 4.3 2.7c-.8.4-1.3 1-1.3 1.9v.4M12 17.5v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  permission: "M12 3 5 6v5c0 4.6 2.9 8.3 7 10 4.1-1.7 7-5.4 7-10V6l-7-3ZM12 8.5v4M12 15.5v.1",
  plan: "M5 4h14v16H5zM8.5 8.5h7M8.5 12h7M8.5 15.5h4",
  trust: "M12 3 5 6v5c0 4.6 2.9 8.3 7 10 4.1-1.7 7-5.4 7-10V6l-7-3ZM8.5 12l2.5 2.5 4.5-5",
  form: "M4 6h16v5H4zM4 15h9M4 19h6M17 15v5M14.5 17.5h5",
  inbox: "M4 13h4l1.5 3h5L16 13h4M4 13l3-8h10l3 8v6H4z",
  sessions: "M4 6h16M4 12h16M4 18h10",
  chat: "M4 5h16v11H9l-5 4z",
  gear: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 3v2.5M12 18.5V21M3 12h2.5M18.5 12H21M5.6 5.6l1.8 1.8M16.6 16.6l1.8 1.8M18.4 5.6l-1.8 1.8M7.4 16.6l-1.8 1.8",
  plus: "M12 5v14M5 12h14",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20",
  close: "M6 6l12 12M18 6 6 18",
  command: "M5 7l4 4-4 4M11 17h8",
  file_change: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  tool: "M14.5 6.5a4 4 0 0 0 4.8 4.8l-8.1 8.1a2.3 2.3 0 0 1-3.3-3.3l8.1-8.1",
  read: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  web_search: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3.5 12h17M12 3.5c2.5 2.4 3.7 5.3 3.7 8.5s-1.2 6.1-3.7 8.5c-2.5-2.4-3.7-5.3-3.7-8.5s1.2-6.1 3.7-8.5Z",
  note: "M5 4h14v10l-6 6H5zM13 20v-6h6",
  agent: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20a7 7 0 0 1 14 0",
  stop: "M7 7h10v10H7z",
  pause: "M8 6v12M16 6v12",
  send: "M12 19V5M6 11l6-6 6 6",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5v.1",
  attach: "M19.5 11.5 12 19a5 5 0 0 1-7-7l8-8a3.3 3.3 0 0 1 4.7 4.7l-8 8a1.7 1.7 0 0 1-2.4-2.4L14 7.5",
  folder: "M4 6h6l2 2h8v11H4z",
  down: "M6 9l6 6 6-6",
  right: "M9 6l6 6-6 6",
  check: "M5 13l4.5 4.5L19 7",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7.5V12l3 2",
  more: "M5.5 12h.01M12 12h.01M18.5 12h.01M5.5 11.6v.8M12 11.6v.8M18.5 11.6v.8",
  dot: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  filter: "M4 6h16M7 12h10M10 18h4",
  warning: "M12 4 3 20h18L12 4ZM12 10v4.5M12 17.5v.1",
  refresh: "M20 12a8 8 0 1 1-2.4-5.7M20 4v4h-4",
  key: "M3 6.5h18v11H3zM7 10.5v.1M10.3 10.5v.1M13.7 10.5v.1M17 10.5v.1M8.5 14h7",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[name]} />
    </svg>
  );
}
