/** Search, and what else narrows the list of sessions: project, cost, age, order. */
import { computed, signal } from "@preact/signals";
import { basename } from "../cards/sentence";
import { Icon } from "../parts/Icons";
import { sessions } from "../store/desk";
import { dollars } from "../text/times";
import { t } from "../texts";
import { COSTS, countSet, HOURS, NO_FILTERS, ORDERS, type Filters, type Order } from "./filters";

export const filters = signal<Filters>(NO_FILTERS);
const open = signal(false);
const places = computed(() => [...new Set([...sessions.value.values()].map((session) => session.directory))].sort());

export function Filter() {
  const { words } = filters.value;
  const set = (part: Partial<Filters>) => (filters.value = { ...filters.value, ...part });
  const count = countSet(filters.value);
  const label = count ? t("page.sessions.filters_set", { count }) : t("page.sessions.filters");
  return (
    <div class="finder">
      <div class="search">
        <Icon name="search" />
        <input id="search" type="search" placeholder={t("page.sessions.search")} aria-label={t("page.sessions.search")} value={words} onInput={(event) => set({ words: event.currentTarget.value })} />
        <button type="button" class="quiet" aria-expanded={open.value} aria-label={label} title={label} onClick={() => (open.value = !open.value)}>
          <Icon name="filter" />
          {count > 0 && <span class="count">{count}</span>}
        </button>
      </div>
      {open.value && <Narrow set={set} count={count} />}
    </div>
  );
}

function Narrow({ set, count }: { set: (part: Partial<Filters>) => void; count: number }) {
  const { directory, cost, hours, order } = filters.value;
  return (
    <div class="narrow">
      <label class="field">
        <span>{t("page.new_session.project")}</span>
        <select value={directory} onChange={(event) => set({ directory: event.currentTarget.value })}>
          <option value="">{t("page.sessions.all_projects")}</option>
          {places.value.map((each) => (
            <option key={each} value={each}>
              {basename(each)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t("page.sessions.cost.label")}</span>
        <select value={String(cost)} onChange={(event) => set({ cost: Number(event.currentTarget.value) })}>
          {COSTS.map((each) => (
            <option key={each} value={each}>
              {costOf(each)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t("page.sessions.age.label")}</span>
        <select value={String(hours)} onChange={(event) => set({ hours: Number(event.currentTarget.value) })}>
          {HOURS.map((each) => (
            <option key={each} value={each}>
              {ageOf(each)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t("page.sessions.sort.label")}</span>
        <select value={order} onChange={(event) => set({ order: event.currentTarget.value as Order })}>
          {ORDERS.map((each) => (
            <option key={each} value={each}>
              {t(`page.sessions.sort.${each}`)}
            </option>
          ))}
        </select>
      </label>
      {count > 0 && (
        <button type="button" class="more" onClick={() => set({ ...NO_FILTERS, words: filters.value.words })}>
          {t("page.sessions.clear")}
        </button>
      )}
    </div>
  );
}

function costOf(least: number): string {
  return least === 0 ? t("page.sessions.cost.any") : t("page.sessions.cost.at_least", { amount: dollars(least) });
}

function ageOf(hours: number): string {
  if (hours === 0) return t("page.sessions.age.any");
  return hours < 24 ? t("page.sessions.age.hours", { count: hours }) : t("page.sessions.age.days", { count: hours / 24 });
}
