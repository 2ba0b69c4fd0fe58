/** Where a project is: its directory on each machine. */
import { useSignal } from "@preact/signals";
import type { Project } from "../generated/api";
import { Confirm } from "../parts/Confirm";
import { Field, Select, SubmitForm, TextField } from "../parts/Form";
import { may } from "../store/desk";
import { byName, machines, placesOf } from "../store/machines";
import { reveal, revealExactly } from "../text/reveal";
import { t } from "../texts";

/** `save` sets the directory on one machine; an empty one removes it there. */
export function ProjectPlaces({ project, save }: { project: Project; save: (place: { machine: string; path: string }) => Promise<boolean> }) {
  const places = [...placesOf(project)];
  return (
    <>
      <p>{t("admin.projects.places_hint")}</p>
      <ul class="own-rules">
        {places.map(([machine, path]) => (
          <li key={machine}>
            <span>{reveal(machines.value.get(machine)?.name ?? machine)}</span>
            <span class="mono">{revealExactly(path)}</span>
            {may("admin") && places.length > 1 && <Confirm label={t("admin.projects.remove_place")} really={t("admin.projects.remove_place_confirm")} act={() => void save({ machine, path: "" })} />}
          </li>
        ))}
      </ul>
      {may("admin") && <SetPlace save={save} />}
    </>
  );
}

function SetPlace({ save }: { save: (place: { machine: string; path: string }) => Promise<boolean> }) {
  const machine = useSignal(byName.value.find((each) => !each.here)?.id ?? "");
  const path = useSignal("");
  const submit = async () => {
    if (await save({ machine: machine.value, path: path.value.trim() })) path.value = "";
  };
  return (
    <SubmitForm class="stack" submit={submit}>
      <div class="two">
        <Field label={t("page.machine.label")}>
          <Select value={machine.value} change={(value) => (machine.value = value)} options={byName.value.map((each) => [each.id, reveal(each.name)] as const)} />
        </Field>
        <Field label={t("page.new_session.path")}>
          <TextField class="mono" required placeholder="/home/me/project" value={path.value} change={(text) => (path.value = text)} />
        </Field>
      </div>
      <div class="row-of-buttons">
        <button type="submit">{t("admin.projects.set_place")}</button>
      </div>
    </SubmitForm>
  );
}
