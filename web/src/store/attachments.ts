/** Unsent images and files, by the message they belong to: they survive a reload as drafts do, for the same person only. */
import type { TextFile } from "../chat/files";
import { me } from "./desk";

export interface StoredPicture {
  media_type: string;
  data: string;
  name: string;
}

export interface StoredAttachments {
  images: readonly StoredPicture[];
  files: readonly TextFile[];
}

interface StoredRecord extends StoredAttachments {
  id: string;
  who: string;
  at: number;
  size: number;
}

const [DATABASE, STORE] = ["handraise.attachments", "drafts"];
const OLDEST = 14 * 24 * 3600 * 1000;
/** All of them together, in characters. The oldest go first, and what is larger is not kept. */
const MOST = 60_000_000;

/** What was attached before; null if there is nothing, or the browser keeps nothing. */
export async function readAttachments(id: string): Promise<StoredAttachments | null> {
  const who = me.peek()?.name ?? "";
  const all = who ? ((await run<StoredRecord[]>("readonly", (store) => store.getAll())) ?? []) : [];
  // Another person signed in here: what someone else left is theirs.
  const foreign = all.filter((each) => each.who !== who || Date.now() - each.at > OLDEST);
  for (const each of foreign) await run("readwrite", (store) => store.delete(each.id));
  return all.find((each) => each.id === id && !foreign.includes(each)) ?? null;
}

/** Keeps them; nothing to keep removes them. */
export async function keepAttachments(id: string, { images, files }: StoredAttachments): Promise<void> {
  const who = me.peek()?.name ?? "";
  const size = [...images.map((each) => each.data), ...files.map((each) => each.text)].reduce((sum, each) => sum + each.length, 0);
  if (!who) return;
  if (!size || size > MOST) return void (await run("readwrite", (store) => store.delete(id)));
  const others = ((await run<StoredRecord[]>("readonly", (store) => store.getAll())) ?? []).filter((each) => each.id !== id).sort((a, b) => b.at - a.at);
  let room = MOST - size;
  for (const each of others) {
    room -= each.size;
    if (room < 0) await run("readwrite", (store) => store.delete(each.id));
  }
  await run("readwrite", (store) => store.put({ id, who, at: Date.now(), size, images, files } satisfies StoredRecord));
}

/** One step in the browser's database. If that is full or forbidden, attachments live as long as the page. */
function run<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest): Promise<T | null> {
  return new Promise((done) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id" });
    opening.onerror = opening.onblocked = () => done(null);
    opening.onsuccess = () => {
      const step = opening.result.transaction(STORE, mode);
      const request = act(step.objectStore(STORE));
      const end = (found: T | null) => {
        opening.result.close();
        done(found);
      };
      step.oncomplete = () => end(request.result as T);
      step.onabort = step.onerror = () => end(null);
    };
  });
}
