/** The shell: the page's own files, kept so that the page opens without the hub. Never an answer of the hub's API.
 *
 * The hub always comes first: what is kept is used only if it can't be reached. So nothing that is shown can be old
 * except the page itself, and that says since when it is offline.
 */
import { filesIn, isAway, shellRequest } from "./shelled";

declare const self: ServiceWorkerGlobalScope;

const CACHE = "handraise-shell";
const INDEX = "/";
export function watchShell(): void {
  self.addEventListener("fetch", (event) => {
    const { request } = event;
    const kind = shellRequest(request.method, request.mode, new URL(request.url), self.location.origin);
    if (kind === "page") event.respondWith(page(request));
    else if (kind === "file") event.respondWith(file(request));
  });
}

/** Where the browser can be told so, the hub's API doesn't even pass by here. */
export function leaveAlone(event: ExtendableEvent): void {
  const { addRoutes } = event as ExtendableEvent & { addRoutes?: (rules: object) => Promise<void> };
  void addRoutes?.call(event, { condition: { urlPattern: new URLPattern({ pathname: "/api/*" }) }, source: "network" }).catch(() => undefined);
}

/** Keeps what the page starts with, before anyone needs it. */
export async function keepShell(): Promise<void> {
  try {
    const response = await fetch(INDEX, { cache: "no-cache" });
    if (isIndex(response)) await keep(response);
  } catch {
    // The hub is away: what is kept stays.
  }
}

async function page(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    if (isIndex(response)) await keep(response.clone()).catch(() => undefined);
    if (!isAway(response.status)) return response;
    return (await kept(INDEX)) ?? response;
  } catch (error) {
    const shell = await kept(INDEX);
    if (shell) return shell;
    throw error;
  }
}

/** Files under `assets` have a hash in their names, so a kept one is never old. Others come from the hub first. */
async function file(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const before = pathname.startsWith("/assets/") ? await kept(pathname) : undefined;
  if (before) return before;
  try {
    const response = await fetch(request);
    if (response.ok && response.type === "basic") await (await caches.open(CACHE)).put(pathname, response.clone()).catch(() => undefined);
    return response;
  } catch (error) {
    const last = await kept(pathname);
    if (last) return last;
    throw error;
  }
}

/** A new page replaces the old one with all of its files. */
async function keep(index: Response): Promise<void> {
  const text = await index.clone().text();
  const before = await (await kept(INDEX))?.text();
  if (before === text) return;
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  await cache.addAll(filesIn(text));
  await cache.put(INDEX, index);
}

function isIndex(response: Response): boolean {
  return response.status === 200 && response.type === "basic" && !response.redirected && (response.headers.get("content-type") ?? "").startsWith("text/html");
}

async function kept(path: string): Promise<Response | undefined> {
  return (await caches.open(CACHE)).match(path);
}
