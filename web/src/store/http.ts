/** Requests to the hub. An error is the hub's own, or that it could not be reached. */
import type { Failed } from "../generated/api";
import type { Ask, Settlement } from "../feed/model";
import { t } from "../texts";

/** The hub refused. `message` is a sentence for the person. */
export class Refused extends Error {
  readonly code: string;
  readonly ask: Ask | null;
  readonly settlement: Settlement | null;

  constructor(
    readonly status: number,
    failure: Failed | null,
  ) {
    super(failure?.error.message ?? t("page.hub_status", { status }));
    this.code = failure?.error.code ?? "unknown";
    this.ask = failure?.error.ask ?? null;
    this.settlement = failure?.error.settlement ?? null;
  }
}

/** No response: the network or the hub is down. */
export class Unreachable extends Error {}

const PATIENCE = 20_000;

export async function ask<T>(method: string, path: string, body?: unknown, patience = PATIENCE): Promise<T> {
  const response = await send(method, path, body, patience);
  const text = await response.text().catch(() => {
    throw new Unreachable("the answer broke off");
  });
  if (!response.ok) {
    const failure = read<Failed>(text);
    // A proxy reports a hub that is down. The hub's own errors carry a message.
    if (response.status >= 502 && response.status <= 504 && !failure?.error) throw new Unreachable(`${response.status}`);
    throw new Refused(response.status, failure);
  }
  return read<T>(text) as T;
}

export const get = <T>(path: string) => ask<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => ask<T>("POST", path, body);

async function send(method: string, path: string, body: unknown, patience: number): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(patience),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
  } catch (error) {
    throw new Unreachable(String(error));
  }
}

function read<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** What to show a person for a thrown error. */
export function explainError(error: unknown): string {
  if (error instanceof Unreachable) return t("page.unreachable");
  return error instanceof Error ? error.message : String(error);
}
