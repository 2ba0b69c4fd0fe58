/** Projects: directories, and what their sessions start with. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Projects } from "../generated/api";
import { Field, Select, SubmitForm, TextField } from "../parts/Form";
import { DirectoryPicker } from "../sessions/DirectoryPicker";
import { wholePath } from "../sessions/places";
import { otherDirectories, useOwnDirectory } from "../sessions/recent";
import { may, projects, sessions } from "../store/desk";
import { post } from "../store/http";
import { byName, several } from "../store/machines";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { OneProject } from "./OneProject";
import { Loading, Trouble, useResource } from "./read";
import { TrustPanel } from "./TrustPanel";

/** How many directories of earlier sessions are offered. */
const RECENT = 8;

export function ProjectsPage() {
  const reading = useResource<Projects>("/api/projects");
  const list = reading.value.value?.projects;
  useEffect(() => {
    if (list) projects.value = list;
  }, [list]);
  return (
    <>
      <p class="lead">{t("admin.projects.hint")}</p>
      <Trouble reading={reading} />
      {!list && <Loading reading={reading} />}
      {list?.map((project) => (
        <OneProject key={project.id} project={project} reading={reading} />
      ))}
      {list?.length === 0 && <p class="empty">{t("admin.projects.none")}</p>}
      <TrustPanel />
      {may("admin") && <AddProject add={(body) => reading.act(() => post("/api/projects", body))} />}
    </>
  );
}

function AddProject({ add }: { add: (body: { path: string; name: string | null; machine: string | null }) => Promise<boolean> }) {
  const path = useSignal("");
  const name = useSignal("");
  const machine = useSignal("");
  const own = useOwnDirectory(undefined);
  const elsewhere = byName.value.some((each) => each.id === machine.value && !each.here) ? machine.value : "";
  const known = useMemo(() => ({ projects: [], recent: otherDirectories(elsewhere).slice(0, RECENT), own: elsewhere ? "" : own.value, home: "" }), [own.value, sessions.value, elsewhere]);
  const submit = async () => {
    if (await add({ path: wholePath(path.value, ""), name: name.value.trim() || null, machine: machine.value || null })) path.value = name.value = "";
  };
  return (
    <SubmitForm class="panel stack" submit={submit}>
      <h2>{t("admin.projects.new")}</h2>
      <div class="two">
        <DirectoryPicker label={t("page.new_session.path")} text={path} choose={() => undefined} known={known} machine={elsewhere} />
        <Field label={t("admin.name")} hint={t("page.form.optional")}>
          <TextField value={name.value} change={(text) => (name.value = text)} />
        </Field>
        {several.value && (
          <Field label={t("page.machine.label")}>
            <Select
              value={machine.value || (byName.value.find((each) => each.here)?.id ?? "")}
              change={(value) => (machine.value = value)}
              options={byName.value.map((each) => [each.id, reveal(each.name)] as const)}
            />
          </Field>
        )}
      </div>
      <div class="row-of-buttons">
        <button type="submit" class="primary">
          {t("admin.projects.add")}
        </button>
      </div>
    </SubmitForm>
  );
}
