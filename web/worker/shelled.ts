/** Which requests are for the page's own files. Pure. */

const FILE = /^\/(?:assets\/[\w.-]+|icon\.svg|icon-192\.png|apple-touch-icon\.png|page\.webmanifest)$/;
/** Views of the page. Not `/login`: its links work once. */
const VIEW = /^\/(?:$|sessions(?:\/|$)|admin(?:\/|$))/;
const IN_INDEX = /"(\/assets\/[\w.-]+)"/g;

export type ShellRequest = "page" | "file" | null;

/** What a request is for, if it is for the shell. */
export function shellRequest(method: string, mode: string, url: URL, origin: string): ShellRequest {
  if (method !== "GET" || url.origin !== origin) return null;
  if (mode === "navigate") return VIEW.test(url.pathname) ? "page" : null;
  return FILE.test(url.pathname) && !url.search ? "file" : null;
}

/** A proxy reports a hub that is down. */
export function isAway(status: number): boolean {
  return status >= 502 && status <= 504;
}

/** The files that the page starts with. */
export function filesIn(index: string): string[] {
  return [...new Set([...index.matchAll(IN_INDEX)].map((found) => found[1] as string))];
}
