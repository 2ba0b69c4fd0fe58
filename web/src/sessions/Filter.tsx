/** Search and other filters for the list of sessions: project, cost, age, order. */
import { computed, signal } from "@preact/signals";
import { basename } from "../text/paths";
import { Field, Select } from "../parts/Form";
import { Icon } from "../parts/Icons";
import { openSearch } from "../search/searching";
import { sessions } from "../store/desk";
import { byName, several } from "../store/machines";
import { reveal } from "../text/reveal";
import { dollars } from "../text/times";
import { t } from "../texts";
import { COSTS, countSet, HOURS, NO_FILTERS, ORDERS, type Filters, type Order } from "./filters";

export const filters = signal<Filters>(NO_FILTERS);
const open = signal(false);
const directories = computed(() => [...new Set([...sessions.value.values()].map((session) => session.directory))].sort());

const set = (part: Partial<Filters>) => (filters.value = { ...filters.value, ...part });

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
      {open.value && <Narrow count={count} />}
    </div>
  );
}

function Narrow({ count }: { count: number }) {
  const { directory, machine, cost, hours, order } = filters.value;
  return (
    <div class="narrow">
      <Field label={t("page.new_session.project")}>
        <Select
          value={directory}
          change={(value) => set({ directory: value })}
          options={[["", t("page.sessions.all_projects")], ...directories.value.map((each) => [each, basename(each)] as const)]}
        />
      </Field>
      {several.value && (
        <Field label={t("page.machine.label")}>
          <Select value={machine} change={(value) => set({ machine: value })} options={[["", t("page.machine.all")], ...byName.value.map((each) => [each.id, reveal(each.name)] as const)]} />
        </Field>
      )}
      <Field label={t("page.sessions.cost.label")}>
        <Select value={cost} change={(value) => set({ cost: Number(value) })} options={COSTS.map((each) => [each, costOf(each)])} />
      </Field>
      <Field label={t("page.sessions.age.label")}>
        <Select value={hours} change={(value) => set({ hours: Number(value) })} options={HOURS.map((each) => [each, ageOf(each)])} />
      </Field>
      <Field label={t("page.sessions.sort.label")}>
        <Select value={order} change={(value) => set({ order: value as Order })} options={ORDERS.map((each) => [each, t(`page.sessions.sort.${each}`)])} />
      </Field>
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
  return hours <= 24 ? t("page.sessions.age.hours", { count: hours }) : t("page.sessions.age.days", { count: hours / 24 });
}
