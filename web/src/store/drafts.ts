/** Unsent text, by the ask or session it is for: it survives a reload, and is dropped once sent. */
import { useState } from "preact/hooks";

const PREFIX = "handraise.draft.";
const OLDEST = 14 * 24 * 3600 * 1000;

interface StoredDraft {
  at: number;
  draft: unknown;
}

/** Like `useState`, but stored in this browser. */
export function useDraft<T>(id: string, first: T): [T, (next: T) => void] {
  const [draft, setDraft] = useState<T>(() => readDraft(id, first));
  const change = (next: T) => {
    setDraft(next);
    writeDraft(id, next);
  };
  return [draft, change];
}

export function readDraft<T>(id: string, first: T): T {
  const record = read(PREFIX + id);
  return record ? (record.draft as T) : first;
}

export function writeDraft(id: string, draft: unknown): void {
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify({ at: Date.now(), draft }));
  } catch {
    // Full or forbidden: then the draft lives as long as the page.
  }
}

/** Drops every draft that belongs to this id. */
export function dropDraft(id: string): void {
  for (const key of Object.keys(localStorage)) {
    if (key === PREFIX + id || key.startsWith(`${PREFIX + id}.`)) localStorage.removeItem(key);
  }
}

export function dropOldDrafts(): void {
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(PREFIX)) continue;
    const record = read(key);
    if (!record || Date.now() - record.at > OLDEST) localStorage.removeItem(key);
  }
}

function read(key: string): StoredDraft | null {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") as StoredDraft | null;
  } catch {
    return null;
  }
}
