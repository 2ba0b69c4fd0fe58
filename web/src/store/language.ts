/** The hub's language: learned from the hub, and loaded before the page is drawn in it. */
import type { LoginPage } from "../generated/api";
import type { Messages } from "../messages";
import { language, showLanguage } from "../texts";
import { get } from "./http";

const KEY = "handraise.language";

/** Switches to the hub's language, if another one is shown. */
export async function useLanguage(wanted: string): Promise<void> {
  if (wanted === language.peek()) return;
  showLanguage(wanted, await get<Record<string, Messages>>("/api/texts"));
  localStorage.setItem(KEY, wanted);
}

/** The language of the last visit: its texts are loaded before anything is drawn. */
export async function useLastLanguage(): Promise<void> {
  const last = localStorage.getItem(KEY);
  if (last) await useLanguage(last).catch(() => undefined);
}

/** The hub's language where nobody is signed in. */
export async function useLoginLanguage(): Promise<void> {
  const page = await get<LoginPage>("/api/login");
  if (page.language === language.peek()) return;
  showLanguage(page.language, page.texts as Record<string, Messages>);
  localStorage.setItem(KEY, page.language);
}
