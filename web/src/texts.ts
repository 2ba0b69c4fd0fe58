/** All texts of the page, in the hub's language. English is built in; another language is loaded before the page is drawn. */
import { signal } from "@preact/signals";
// Texts that the hub does not send with each ask and action.
import { choice, denial, kind, left, session, usage, waiting } from "../../src/handraise/texts/en/card.json";
import compose from "../../src/handraise/texts/en/compose.json";
import page from "../../src/handraise/texts/en/page.json";
import type { TextKey, TextValues } from "./generated/texts";
import { Catalogue, type Messages } from "./messages";

const catalogue = new Catalogue({ page, compose, card: { choice, denial, kind, left, session, usage, waiting } });

/** The current language. The page is redrawn when it changes. */
export const language = signal("en");

/** The text of this key. Backquotes in it mark what a machine said. */
export function t<K extends TextKey>(key: K, ...values: TextValues[K] extends null ? [] : [TextValues[K]]): string {
  return catalogue.say(key, values[0] ?? {}) ?? key;
}

/** The text of a key that may be unknown here, such as the name of a mode that Claude added. */
export function textOr(key: string, fallback: string): string {
  return catalogue.say(key) ?? fallback;
}

/** How dates, numbers and amounts are written. */
export function locale(): string {
  return catalogue.region;
}

/** Adds the English messages of a part of the page that is loaded later. */
export function addTexts(area: string, messages: Messages): void {
  catalogue.add(area, messages);
}

/** Switches to another language. */
export function showLanguage(next: string, messages: Record<string, Messages>): void {
  catalogue.use(next, messages);
  language.value = next;
  document.documentElement.lang = next;
}
