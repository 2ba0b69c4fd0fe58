/** Projects: directories, and what their sessions begin with. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Projects } from "../generated/api";
import { may, projects } from "../store/desk";
import { post } from "../store/http";
import { t } from "../texts";
import { OneProject } from "./OneProject";
import { Loading, Trouble, useReading } from "./read";
import { TrustPanel } from "./TrustPanel";

export function ProjectsPage() {
  const reading = useReading<Projects>("/api/projects");
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
      {may("admin") && <Add add={(body) => reading.act(() => post("/api/projects", body))} />}
    </>
  );
}

function Add({ add }: { add: (body: { path: string; name: string | null }) => Promise<boolean> }) {
  const path = useSignal("");
  const name = useSignal("");
  const submit = async () => {
    if (await add({ path: path.value.trim(), name: name.value.trim() || null })) path.value = name.value = "";
  };
  return (
    <form
      class="panel stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2>{t("admin.projects.new")}</h2>
      <div class="two">
        <label class="field">
          <span>{t("page.new_session.path")}</span>
          <input class="mono" required placeholder="/home/me/project" value={path.value} onInput={(event) => (path.value = event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>
            {t("admin.name")} <small class="quiet-text">{t("page.form.optional")}</small>
          </span>
          <input value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
        </label>
      </div>
      <div class="row-of-buttons">
        <button type="submit" class="primary">
          {t("admin.projects.add")}
        </button>
      </div>
    </form>
  );
}
