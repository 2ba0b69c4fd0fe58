/** One project: its options, its own rules, and its files. */
import { useSignal, type Signal } from "@preact/signals";
import type { Options, Project, ProjectRule, Projects } from "../generated/api";
import { Confirm } from "../parts/Confirm";
import { Field } from "../parts/Field";
import { Unfolds } from "../parts/Folded";
import { Quoted } from "../parts/Quoted";
import { may } from "../store/desk";
import { ask, post } from "../store/http";
import { NO_RULE, subjectOf, toRules } from "../rules/draft";
import { RuleForm } from "../rules/RuleForm";
import { MODELS, ModeChoices, modeName } from "../sessions/modes";
import { reveal } from "../text/reveal";
import { dollars } from "../text/times";
import { t } from "../texts";
import { draftOf, KINDS, optionsOf, type OptionsDraft } from "./options";
import type { Reading } from "./read";

const SANDBOXES = ["open", "project", "sealed", "off"] as const;

export function OneProject({ project, reading }: { project: Project; reading: Reading<Projects> }) {
  const path = `/api/projects/${encodeURIComponent(project.id)}`;
  const change = (options: Options, name = project.name) => reading.act(() => ask("PATCH", path, { name, options }));
  const saved = useSignal(false);
  const synced = useSignal<string | null>(null);
  const sync = (remove: boolean) =>
    reading.act(async () => {
      const { changed } = await post<{ changed: string[] }>(`${path}/sync`, { remove });
      synced.value = changed.length ? t("admin.projects.synced", { files: changed.join(", ") }) : t("admin.projects.unchanged");
    });
  return (
    <section class="panel">
      <header class="project-head">
        <div>
          <h2>{reveal(project.name)}</h2>
          <p class="mono quiet-text">{reveal(project.path)}</p>
        </div>
        <p class="quiet-text">{summary(project.options)}</p>
      </header>
      <Unfolds title={t("admin.projects.options")}>{() => <OptionsForm key={JSON.stringify(project)} project={project} save={change} saved={saved} />}</Unfolds>
      <Unfolds title={rulesTitle(project.options.rules?.length ?? 0)}>{() => <OwnRules project={project} save={change} />}</Unfolds>
      {may("admin") && (
        <Unfolds title={t("admin.projects.files")}>
          {() => (
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
              {synced.value && <p role="status">{reveal(synced.value)}</p>}
            </>
          )}
        </Unfolds>
      )}
    </section>
  );
}

function rulesTitle(count: number): string {
  return count ? t("admin.projects.rules_count", { count }) : t("admin.projects.rules");
}

function summary(options: Options): string {
  const said = [
    options.mode && modeName(options.mode),
    options.model,
    options.parallel && t("admin.projects.at_once", { count: options.parallel }),
    options.cost_limit_usd && t("admin.projects.at_most", { amount: dollars(options.cost_limit_usd) }),
  ];
  return said.filter(Boolean).map(String).map(reveal).join(" · ") || t("admin.projects.inherited");
}

interface OptionsFormProps {
  project: Project;
  save: (options: Options, name: string) => Promise<boolean>;
  /** Outlives the form, which is drawn anew from what was saved. */
  saved: Signal<boolean>;
}

function OptionsForm({ project, save, saved }: OptionsFormProps) {
  const { options } = project;
  const draft = useSignal(draftOf(options));
  const name = useSignal(project.name);
  const set = (part: Partial<OptionsDraft>) => {
    saved.value = false;
    draft.value = { ...draft.value, ...part };
  };
  const value = draft.value;
  const text = (name: "model" | "ask_user_timeout" | "parallel" | "cost_limit_usd", more: object = {}) => (
    <input value={value[name]} placeholder={t("admin.projects.inherited")} onInput={(event) => set({ [name]: event.currentTarget.value })} {...more} />
  );
  return (
    <form
      class="stack"
      onSubmit={async (event) => {
        event.preventDefault();
        saved.value = await save(optionsOf(value, options.rules), name.value.trim());
      }}
    >
      <fieldset class="stack" disabled={!may("admin")}>
        <Field label={t("admin.name")}>
          <input
            required
            value={name.value}
            onInput={(event) => {
              saved.value = false;
              name.value = event.currentTarget.value;
            }}
          />
        </Field>
        <div class="two">
          <Field label={t("admin.projects.mode")}>
            <select value={value.mode} onChange={(event) => set({ mode: event.currentTarget.value })}>
              <option value="">{t("admin.projects.inherited")}</option>
              <ModeChoices and={value.mode} />
            </select>
          </Field>
          <Field label={t("admin.projects.model")}>
            {text("model", { list: "project-models" })}
            <datalist id="project-models">
              {MODELS.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          </Field>
          <Field label={t("admin.projects.sandbox")}>
            <select value={value.sandbox} onChange={(event) => set({ sandbox: event.currentTarget.value })}>
              <option value="">{t("admin.projects.inherited")}</option>
              {SANDBOXES.map((name) => (
                <option key={name} value={name}>
                  {t(`admin.sandbox.${name}`)}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t("admin.projects.parallel")}>{text("parallel", { inputMode: "numeric", pattern: "[0-9]*" })}</Field>
          <Field label={t("admin.projects.cost_limit")}>{text("cost_limit_usd", { inputMode: "decimal", pattern: "[0-9]*[.]?[0-9]*" })}</Field>
          <Field label={t("admin.projects.allowed_tools")} says={t("admin.projects.one_per_line")}>
            <textarea class="mono" rows={2} placeholder={"Read\nGrep"} value={value.allowed_tools} onInput={(event) => set({ allowed_tools: event.currentTarget.value })} />
          </Field>
          <Field label={t("admin.projects.add_dirs")} says={t("admin.projects.one_per_line")}>
            <textarea class="mono" rows={2} value={value.add_dirs} onInput={(event) => set({ add_dirs: event.currentTarget.value })} />
          </Field>
        </div>
        <Field label={t("admin.projects.system_prompt")}>
          <textarea rows={3} value={value.append_system_prompt} onInput={(event) => set({ append_system_prompt: event.currentTarget.value })} />
        </Field>
        <div class="two">
          <Field label={t("admin.projects.ask_user")}>
            <select value={value.ask_user_enabled} onChange={(event) => set({ ask_user_enabled: event.currentTarget.value as "" })}>
              <option value="">{t("admin.projects.inherited")}</option>
              <option value="yes">{t("admin.yes")}</option>
              <option value="no">{t("admin.no")}</option>
            </select>
          </Field>
          <Field label={t("admin.projects.ask_user_timeout")} says={t("admin.projects.seconds", { low: 30, high: 900 })}>
            {text("ask_user_timeout", { inputMode: "numeric", pattern: "[0-9]*" })}
          </Field>
        </div>
        <fieldset class="field">
          <legend>
            {t("admin.projects.patience")} <small class="quiet-text">{t("admin.projects.patience_hint")}</small>
          </legend>
          <div class="four">
            {KINDS.map((kind) => (
              <Field key={kind} label={t(`page.card.kind.${kind}`)}>
                <input
                  inputMode="decimal"
                  pattern="[0-9]*[.]?[0-9]*"
                  placeholder={t("admin.projects.no_timeout")}
                  value={value.patience[kind]}
                  onInput={(event) => set({ patience: { ...value.patience, [kind]: event.currentTarget.value } })}
                />
              </Field>
            ))}
          </div>
        </fieldset>
        <div class="row-of-buttons">
          <button type="submit" class="primary">
            {t("page.save")}
          </button>
          {saved.value && (
            <span class="quiet-text" role="status">
              {t("admin.projects.saved")}
            </span>
          )}
        </div>
      </fieldset>
    </form>
  );
}

function OwnRules({ project, save }: { project: Project; save: (options: Options) => Promise<boolean> }) {
  const rules = project.options.rules ?? [];
  const keep = (next: ProjectRule[]) => save({ ...project.options, rules: next });
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
              {may("admin") && <Confirm says={t("admin.revoke")} really={t("admin.revoke_confirm")} act={() => void keep(rules.filter((_, index) => index !== at))} />}
            </li>
          ))}
        </ol>
      )}
      {may("admin") && <RuleForm first={NO_RULE} fixed={project.name} make={(draft) => keep([...rules, ...toRules({ ...draft, project: "", session: "" }, Date.now())])} />}
    </>
  );
}
