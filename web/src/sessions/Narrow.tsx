/** The filters of the list of sessions: project, machine, cost, age, order. Loaded when they are first opened. */
import { computed } from "@preact/signals";
import { Field, Select } from "../parts/Form";
import { sessions } from "../store/desk";
import { byName, several } from "../store/machines";
import { basename } from "../text/paths";
import { reveal } from "../text/reveal";
import { dollars } from "../text/times";
import { t } from "../texts";
import { filters, set } from "./Filter";
import { COSTS, HOURS, NO_FILTERS, ORDERS, type Order } from "./filters";

const directories = computed(() => [...new Set([...sessions.value.values()].map((session) => session.directory))].sort());

export function Narrow({ count }: { count: number }) {
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
