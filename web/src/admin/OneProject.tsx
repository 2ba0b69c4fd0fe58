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
import { MODELS, ModeChoices } from "../sessions/modes";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { draftOf, KINDS, optionsOf, type OptionsDraft } from "./options";
import type { Reading } from "./read";

export function OneProject({ project, reading }: { project: Project; reading: Reading<Projects> }) {
  const path = `/api/projects/${encodeURIComponent(project.id)}`;
  const change = (options: Options, name = project.name) => reading.act(() => ask("PATCH", path, { name, options }));
  const saved = useSignal(false);
  const synced = useSignal<string | null>(null);
  const sync = (remove: boolean) =>
    reading.act(async () => {
      const { changed } = await post<{ changed: string[] }>(`${path}/sync`, { remove });
      synced.value = t.admin.synced(changed);
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
      <Unfolds title={t.admin.options}>{() => <OptionsForm key={JSON.stringify(project)} project={project} save={change} saved={saved} />}</Unfolds>
      <Unfolds title={t.admin.ownRules(project.options.rules?.length ?? 0)}>{() => <OwnRules project={project} save={change} />}</Unfolds>
      {may("admin") && (
        <Unfolds title={t.admin.files}>
          {() => (
            <>
              <p>{t.admin.filesSay}</p>
              <div class="row-of-buttons">
                <button type="button" onClick={() => void sync(false)}>
                  {t.admin.sync}
                </button>
                <button type="button" class="quiet" onClick={() => void sync(true)}>
                  {t.admin.unsync}
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

function summary(options: Options): string {
  const said = [
    options.mode && (t.sessions.modes[options.mode] ?? options.mode),
    options.model,
    options.parallel && t.admin.atOnce(options.parallel),
    options.cost_limit_usd && t.admin.atMost(options.cost_limit_usd),
  ];
  return said.filter(Boolean).map(String).map(reveal).join(" · ") || t.admin.asSettings;
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
    <input value={value[name]} placeholder={t.admin.asSettings} onInput={(event) => set({ [name]: event.currentTarget.value })} {...more} />
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
        <Field label={t.admin.name}>
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
          <Field label={t.admin.mode}>
            <select value={value.mode} onChange={(event) => set({ mode: event.currentTarget.value })}>
              <option value="">{t.admin.asSettings}</option>
              <ModeChoices and={value.mode} />
            </select>
          </Field>
          <Field label={t.admin.model}>
            {text("model", { list: "project-models" })}
            <datalist id="project-models">
              {MODELS.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          </Field>
          <Field label={t.admin.sandbox}>
            <select value={value.sandbox} onChange={(event) => set({ sandbox: event.currentTarget.value })}>
              <option value="">{t.admin.asSettings}</option>
              {Object.entries(t.admin.sandboxes).map(([name, says]) => (
                <option key={name} value={name}>
                  {says}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t.admin.parallel}>{text("parallel", { inputMode: "numeric", pattern: "[0-9]*" })}</Field>
          <Field label={t.admin.costLimit}>{text("cost_limit_usd", { inputMode: "decimal", pattern: "[0-9]*[.]?[0-9]*" })}</Field>
          <Field label={t.admin.allowedTools} says={t.admin.onePerLine}>
            <textarea class="mono" rows={2} placeholder={"Read\nGrep"} value={value.allowed_tools} onInput={(event) => set({ allowed_tools: event.currentTarget.value })} />
          </Field>
          <Field label={t.admin.addDirs} says={t.admin.onePerLine}>
            <textarea class="mono" rows={2} value={value.add_dirs} onInput={(event) => set({ add_dirs: event.currentTarget.value })} />
          </Field>
        </div>
        <Field label={t.admin.systemPrompt}>
          <textarea rows={3} value={value.append_system_prompt} onInput={(event) => set({ append_system_prompt: event.currentTarget.value })} />
        </Field>
        <div class="two">
          <Field label={t.admin.askUser}>
            <select value={value.ask_user_enabled} onChange={(event) => set({ ask_user_enabled: event.currentTarget.value as "" })}>
              <option value="">{t.admin.asSettings}</option>
              <option value="yes">{t.admin.on}</option>
              <option value="no">{t.admin.off}</option>
            </select>
          </Field>
          <Field label={t.admin.askUserTimeout} says={t.admin.seconds(30, 900)}>
            {text("ask_user_timeout", { inputMode: "numeric", pattern: "[0-9]*" })}
          </Field>
        </div>
        <fieldset class="field">
          <legend>
            {t.admin.patience} <small class="quiet-text">{t.admin.patienceSays}</small>
          </legend>
          <div class="four">
            {KINDS.map((kind) => (
              <Field key={kind} label={t.card.kinds[kind]}>
                <input
                  inputMode="decimal"
                  pattern="[0-9]*[.]?[0-9]*"
                  placeholder={t.admin.forEver}
                  value={value.patience[kind]}
                  onInput={(event) => set({ patience: { ...value.patience, [kind]: event.currentTarget.value } })}
                />
              </Field>
            ))}
          </div>
        </fieldset>
        <div class="row-of-buttons">
          <button type="submit" class="primary">
            {t.save}
          </button>
          {saved.value && (
            <span class="quiet-text" role="status">
              {t.admin.saved}
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
      <p>{t.admin.ownRulesSay}</p>
      {rules.length > 0 && (
        <ol class="own-rules">
          {rules.map((rule, at) => (
            <li key={at}>
              <span class={`decision ${rule.decision}`}>{t.rules.decisions[rule.decision]}</span>
              <span>
                <Quoted text={subjectOf(rule)} />
                {rule.message && <span class="quiet-text"> “{reveal(rule.message)}”</span>}
              </span>
              {may("admin") && <Confirm says={t.admin.revoke} really={t.admin.revokeReally} act={() => void keep(rules.filter((_, index) => index !== at))} />}
            </li>
          ))}
        </ol>
      )}
      {may("admin") && <RuleForm first={NO_RULE} fixed={project.name} make={(draft) => keep([...rules, ...toRules({ ...draft, project: "", session: "" }, Date.now())])} />}
    </>
  );
}
