/** What the worker says, where no page is open. */
import worker from "../../src/handraise/texts/en/worker.json";
import type { TextKey, TextValues } from "../src/generated/texts";
import { Catalogue } from "../src/messages";

export const catalogue = new Catalogue({ worker });

type WorkerKey = Extract<TextKey, `worker.${string}`>;

export function t<K extends WorkerKey>(key: K, ...values: TextValues[K] extends null ? [] : [TextValues[K]]): string {
  return catalogue.say(key, values[0] ?? {}) ?? key;
}
