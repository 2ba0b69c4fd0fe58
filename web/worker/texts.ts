/** The worker's texts, while no page is open. English is built in; the hub's own language is loaded when first needed. */
import worker from "../../src/handraise/texts/en/worker.json";
import type { TextKey, TextValues } from "../src/generated/texts";
import { Catalogue, type Messages } from "../src/messages";

const ENGLISH = "en";
const catalogue = new Catalogue({ worker });
let learned = false;

type WorkerKey = Extract<TextKey, `worker.${string}`>;

export function t<K extends WorkerKey>(key: K, ...values: TextValues[K] extends null ? [] : [TextValues[K]]): string {
  return catalogue.say(key, values[0] ?? {}) ?? key;
}

/** Asks the hub for its language, once. It stays English as long as the hub can't be reached. */
export async function learnLanguage(read: (path: string) => Promise<unknown>): Promise<void> {
  if (learned) return;
  const me = (await read("/api/me")) as { language?: string } | null;
  if (!me?.language) return;
  const texts = me.language === ENGLISH ? null : ((await read("/api/texts")) as Record<string, Messages> | null);
  if (texts?.["worker"]) catalogue.use(me.language, texts);
  learned = me.language === ENGLISH || texts !== null;
}
