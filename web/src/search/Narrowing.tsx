/** What a search is narrowed down to: when, where and whose. */
import type { Signal } from "@preact/signals";
import { Select } from "../parts/Form";
import { me, projects, sessions } from "../store/desk";
import { basename } from "../text/paths";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { NOT_NARROWED, type Narrowed, TIMES } from "./narrowed";

export function Narrowing({ narrowed, everywhere }: { narrowed: Signal<Narrowed>; everywhere: boolean }) {
  const { time, from, to, project, state, by } = narrowed.value;
  const set = (part: Partial<Narrowed>) => (narrowed.value = { ...narrowed.value, ...part });
  return (
    <div class="search-narrow">
      <Select aria-label={t("page.search.when.label")} value={time} change={(value) => set({ time: value as Narrowed["time"] })} options={TIMES.map((each) => [each, t(`page.search.when.${each}`)])} />
      {time === "dates" && (
        <>
          <input type="date" aria-label={t("page.search.when.from")} value={from} max={to || undefined} onInput={(event) => set({ from: event.currentTarget.value })} />
          <input type="date" aria-label={t("page.search.when.to")} value={to} min={from || undefined} onInput={(event) => set({ to: event.currentTarget.value })} />
        </>
      )}
      {everywhere && (
        <>
          <Select aria-label={t("page.search.project")} value={project} change={(value) => set({ project: value })} options={[["", t("page.search.all_projects")], ...places()]} />
          <Select
            aria-label={t("page.search.state.label")}
            value={state}
            change={(value) => set({ state: value as Narrowed["state"] })}
            options={[
              ["", t("page.search.state.any")],
              ["running", t("page.search.state.running")],
              ["ended", t("page.search.state.ended")],
            ]}
          />
        </>
      )}
      <Select
        aria-label={t("page.search.by.label")}
        value={by}
        change={(value) => set({ by: value })}
        options={[
          ["", t("page.search.by.anyone")],
          ...(me.value ? [[me.value.name, t("page.search.by.me")] as const] : []),
          ["people", t("page.search.by.people")],
          ["claude", t("page.search.by.claude")],
          ["tools", t("page.search.by.tools")],
        ]}
      />
      {narrowed.value !== NOT_NARROWED && (
        <button type="button" class="quiet" onClick={() => (narrowed.value = NOT_NARROWED)}>
          {t("page.search.clear")}
        </button>
      )}
    </div>
  );
}

/** The projects, and the other directories in which there are sessions. */
function places(): (readonly [string, string])[] {
  const known = projects.value.map((each) => [each.id, reveal(each.name)] as const);
  const paths = new Set(projects.value.map((each) => each.path));
  const others = [...new Set([...sessions.value.values()].filter((each) => !each.project && !paths.has(each.directory)).map((each) => each.directory))].sort();
  return [...known, ...others.map((each) => [each, reveal(basename(each))] as const)];
}
