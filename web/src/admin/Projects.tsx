/** Projects: directories, and what their sessions begin with. */
import { useSignal } from "@preact/signals";
import type { Project, Projects } from "../generated/api";
import { may, projects } from "../store/desk";
import { ask, post } from "../store/http";
import { MODES } from "../sessions/NewSession";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { Trouble, useReading, type Reading } from "./read";

export function ProjectsPage() {
  const reading = useReading<Projects>("/api/projects");
  const path = useSignal("");
  const name = useSignal("");
  const list = reading.value.value?.projects ?? [];
  if (reading.value.value) projects.value = list;
  return (
    <>
      <Trouble reading={reading} />
      {list.map((project) => (
        <One key={project.id} project={project} reading={reading} />
      ))}
      {reading.value.value && !list.length && <p class="empty">{t.admin.noProjects}</p>}
      {may("admin") && (
        <form
          class="panel stack"
          onSubmit={async (event) => {
            event.preventDefault();
            const added = await reading.act(() => post("/api/projects", { path: path.value.trim(), name: name.value.trim() || null }));
            if (added) path.value = name.value = "";
          }}
        >
          <h2>{t.admin.newProject}</h2>
          <div class="two">
            <label class="field">
              <span>{t.start.path}</span>
              <input class="mono" required value={path.value} onInput={(event) => (path.value = event.currentTarget.value)} />
            </label>
            <label class="field">
              <span>{t.admin.name}</span>
              <input value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
            </label>
          </div>
          <div class="row-of-buttons">
            <button type="submit" class="primary">{t.admin.add}</button>
          </div>
        </form>
      )}
    </>
  );
}

function One({ project, reading }: { project: Project; reading: Reading<Projects> }) {
  const change = (options: Partial<Project["options"]>) => void reading.act(() => ask("PATCH", `/api/projects/${encodeURIComponent(project.id)}`, { options: { ...project.options, ...options } }));
  return (
    <section class="panel">
      <h2>{reveal(project.name)}</h2>
      <p class="mono quiet-text">{reveal(project.path)}</p>
      <div class="two">
        <label class="field">
          <span>{t.admin.mode}</span>
          <select value={project.options.mode ?? ""} disabled={!may("admin")} onChange={(event) => change({ mode: event.currentTarget.value || null })}>
            <option value="">{t.start.modelHint}</option>
            {MODES.map((mode) => (
              <option key={mode} value={mode}>
                {t.sessions.modes[mode] ?? mode}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{t.admin.model}</span>
          <input value={project.options.model ?? ""} disabled={!may("admin")} placeholder={t.start.modelHint} onChange={(event) => change({ model: event.currentTarget.value.trim() || null })} />
        </label>
      </div>
    </section>
  );
}
