/** One project: its options, its own rules, and its files. */
import { useSignal } from "@preact/signals";
import type { Options, Project, ProjectRule, Projects } from "../generated/api";
import { Confirm } from "../parts/Confirm";
import { Unfolds } from "../parts/Folded";
import { Quoted } from "../parts/Quoted";
import { NO_RULE, subjectOf, toRules } from "../rules/draft";
import { RuleForm } from "../rules/RuleForm";
import { modeName } from "../sessions/modes";
import { may } from "../store/desk";
import { ask, post } from "../store/http";
import { several } from "../store/machines";
import { reveal, revealExactly } from "../text/reveal";
import { dollars } from "../text/times";
import { t } from "../texts";
import { OptionsForm } from "./OptionsForm";
import { ProjectPlaces } from "./ProjectPlaces";
import type { Resource } from "./read";

export function OneProject({ project, reading }: { project: Project; reading: Resource<Projects> }) {
  const path = `/api/projects/${encodeURIComponent(project.id)}`;
  const save = (options: Options, name = project.name) => reading.act(() => ask("PATCH", path, { name, options }));
  const saved = useSignal(false);
  return (
    <section class="panel">
      <header class="project-head">
        <div>
          <h2>{reveal(project.name)}</h2>
          <p class="mono quiet-text">{revealExactly(project.path || (project.elsewhere?.[0]?.path ?? ""))}</p>
        </div>
        <p class="quiet-text">{summary(project.options)}</p>
      </header>
      <Unfolds title={t("admin.projects.options")}>{() => <OptionsForm key={JSON.stringify(project)} project={project} save={save} saved={saved} />}</Unfolds>
      {several.value && <Unfolds title={t("admin.projects.places")}>{() => <ProjectPlaces project={project} save={(place) => reading.act(() => ask("PATCH", path, place))} />}</Unfolds>}
      <Unfolds title={rulesTitle(project.options.rules?.length ?? 0)}>{() => <ProjectRules project={project} save={save} />}</Unfolds>
      {may("admin") && <Unfolds title={t("admin.projects.files")}>{() => <ProjectFiles path={path} reading={reading} />}</Unfolds>}
    </section>
  );
}

function summary(options: Options): string {
  const facts = [
    options.mode && modeName(options.mode),
    options.model,
    options.parallel && t("admin.projects.at_once", { count: options.parallel }),
    options.cost_limit_usd && t("admin.projects.at_most", { amount: dollars(options.cost_limit_usd) }),
  ];
  return facts.filter(Boolean).map(String).map(reveal).join(" · ") || t("admin.projects.inherited");
}

function rulesTitle(count: number): string {
  return count ? t("admin.projects.rules_count", { count }) : t("admin.projects.rules");
}

function ProjectFiles({ path, reading }: { path: string; reading: Resource<Projects> }) {
  const outcome = useSignal<string | null>(null);
  const sync = (remove: boolean) =>
    reading.act(async () => {
      const { changed } = await post<{ changed: string[] }>(`${path}/sync`, { remove });
      outcome.value = changed.length ? t("admin.projects.synced", { files: changed.join(", ") }) : t("admin.projects.unchanged");
    });
  return (
    <>
      <p>{t("admin.projects.files_hint")}</p>
      <div class="row-of-buttons">
        <button type="button" onClick={() => void sync(false)}>
          {t("admin.projects.sync")}
        </button>
        <button type="button" class="quiet" onClick={() => void sync(true)}>
          {t("admin.projects.unsync")}
        </button>
      </div>
      {outcome.value && <p role="status">{reveal(outcome.value)}</p>}
    </>
  );
}

function ProjectRules({ project, save }: { project: Project; save: (options: Options) => Promise<boolean> }) {
  const rules = project.options.rules ?? [];
  const replace = (next: ProjectRule[]) => save({ ...project.options, rules: next });
  return (
    <>
      <p>{t("admin.projects.rules_hint")}</p>
      {rules.length > 0 && (
        <ol class="own-rules">
          {rules.map((rule, at) => (
            <li key={at}>
              <span class={`decision ${rule.decision}`}>{t(`admin.rules.decisions.${rule.decision}`)}</span>
              <span>
                <Quoted text={subjectOf(rule)} />
                {rule.message && <span class="quiet-text"> “{reveal(rule.message)}”</span>}
              </span>
              {may("admin") && <Confirm label={t("admin.revoke")} really={t("admin.revoke_confirm")} act={() => void replace(rules.filter((_, index) => index !== at))} />}
            </li>
          ))}
        </ol>
      )}
      {may("admin") && <RuleForm first={NO_RULE} fixed={project.name} make={(draft) => replace([...rules, ...toRules({ ...draft, project: "", session: "" }, Date.now())])} />}
    </>
  );
}
