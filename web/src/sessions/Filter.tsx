/** Search in the list of sessions, and the way to its other filters. */
import { signal } from "@preact/signals";
import { Icon } from "../parts/Icons";
import { Later } from "../parts/Later";
import { openSearch } from "../search/searching";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { countSet, NO_FILTERS, type Filters } from "./filters";

export const filters = signal<Filters>(NO_FILTERS);
const open = signal(false);

export const set = (part: Partial<Filters>) => (filters.value = { ...filters.value, ...part });

export function Filter() {
  const count = countSet(filters.value);
  const label = count ? t("page.sessions.filters_set", { count }) : t("page.sessions.filters");
  const search = t("page.sessions.search");
  return (
    <div class="finder">
      <div class="search">
        <Icon name="search" />
        <input
          id="search"
          type="search"
          placeholder={search}
          aria-label={search}
          value={filters.value.words}
          onInput={(event) => set({ words: event.currentTarget.value })}
          onKeyDown={(event) => event.key === "Enter" && openSearch(filters.value.words, true)}
        />
        <button type="button" class="quiet" aria-expanded={open.value} aria-label={label} title={label} onClick={() => (open.value = !open.value)}>
          <Icon name="filter" />
          {count > 0 && <span class="count">{count}</span>}
        </button>
      </div>
      {filters.value.words.trim() && (
        <button type="button" class="more search-all" onClick={() => openSearch(filters.value.words, true)}>
          {t("page.search.everywhere", { words: reveal(filters.value.words.trim()) })}
        </button>
      )}
      {open.value && (
        <Later quiet load={() => import("./Narrow")}>
          {({ Narrow }) => <Narrow count={count} />}
        </Later>
      )}
    </div>
  );
}
