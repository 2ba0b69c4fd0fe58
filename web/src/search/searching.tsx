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

export function Searching({ wanted }: { wanted: Wanted }) {
  return (
    <Later quiet load={() => import("./SearchDialog")}>
      {({ SearchDialog }) => <SearchDialog wanted={wanted} close={() => (searching.value = null)} />}
    </Later>
  );
}
