/** Whether the search is open, and where it looks. The dialog itself is loaded when it is first opened. */
import { signal } from "@preact/signals";
import { Later } from "../parts/Later";
import { place } from "../store/place";

/** What to look for, and in which session; null: in all of them. */
export interface Wanted {
  readonly words: string;
  readonly session: string | null;
}

export const searching = signal<Wanted | null>(null);

/** In the conversation that is open, or in all. */
export function openSearch(words = "", everywhere = false): void {
  const here = place.peek();
  searching.value = { words, session: here.view === "session" && !everywhere ? here.id : null };
}

/** Keys that come before the dialog does are part of the words; Escape gives up. Returns whether it was such a key. */
export function typeAhead(event: KeyboardEvent): boolean {
  const wanted = searching.peek();
  if (wanted === null || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return false;
  if (event.key === "Escape") searching.value = null;
  else if (event.key === "Backspace") searching.value = { ...wanted, words: wanted.words.slice(0, -1) };
  else if ([...event.key].length === 1) searching.value = { ...wanted, words: wanted.words + event.key };
  else return false;
  return true;
}

export function Searching({ wanted }: { wanted: Wanted }) {
  return (
    <Later quiet load={() => import("./SearchDialog")}>
      {({ SearchDialog }) => <SearchDialog wanted={wanted} close={() => (searching.value = null)} />}
    </Later>
  );
}
