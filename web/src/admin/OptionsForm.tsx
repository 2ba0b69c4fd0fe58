/** The options of a project, as a form. */
import { useSignal, type Signal } from "@preact/signals";
import type { Options, Project } from "../generated/api";
import { Field, SubmitForm, Select, Suggestions, TextArea, TextField } from "../parts/Form";
import { MODELS, ModeChoices } from "../sessions/modes";
import { may, toolsOf } from "../store/desk";
import { t } from "../texts";
import { draftOf, KINDS, optionsOf, type OptionsDraft } from "./options";

const SANDBOXES = ["open", "project", "sealed", "off"] as const;

interface OptionsFormProps {
  project: Project;
  save: (options: Options, name: string) => Promise<boolean>;
  /** Outlives the form, which is redrawn from what was saved. */
  saved: Signal<boolean>;
}

/** A part of the form: what it shows, and how it changes it. */
interface PartProps {
  value: OptionsDraft;
  set: (part: Partial<OptionsDraft>) => void;
}

export function OptionsForm({ project, save, saved }: OptionsFormProps) {
  const draft = useSignal(draftOf(project.options));
  const name = useSignal(project.name);
  const set = (part: Partial<OptionsDraft>) => {
    saved.value = false;
    draft.value = { ...draft.value, ...part };
  };
  const rename = (next: string) => {
    saved.value = false;
    name.value = next;
  };
  const submit = async () => {
    saved.value = await save(optionsOf(draft.value, project.options.rules), name.value.trim());
  };
  return (
    <SubmitForm class="stack" submit={submit}>
      <fieldset class="stack" disabled={!may("admin")}>
        <Field label={t("admin.name")}>
          <TextField required value={name.value} change={rename} />
        </Field>
        <SessionOptions value={draft.value} set={set} />
        <AskUserOptions value={draft.value} set={set} />
        <Timeouts value={draft.value} set={set} />
        <Save saved={saved.value} />
      </fieldset>
    </SubmitForm>
  );
}

function Save({ saved }: { saved: boolean }) {
  return (
    <div class="row-of-buttons">
      <button type="submit" class="primary">
        {t("page.save")}
      </button>
      {saved && (
        <span class="quiet-text" role="status">
          {t("admin.projects.saved")}
        </span>
      )}
    </div>
  );
}

function SessionOptions({ value, set }: PartProps) {
  const inherited = t("admin.projects.inherited");
  return (
    <>
      <div class="two">
        <Field label={t("admin.projects.mode")}>
          <Select value={value.mode} change={(mode) => set({ mode })}>
            <option value="">{inherited}</option>
            <ModeChoices and={value.mode} />
          </Select>
        </Field>
        <Field label={t("admin.projects.model")}>
          <TextField value={value.model} placeholder={inherited} list="project-models" change={(model) => set({ model })} />
          <Suggestions id="project-models" values={MODELS} />
        </Field>
        <Field label={t("admin.projects.sandbox")}>
          <Select value={value.sandbox} change={(sandbox) => set({ sandbox })} options={[["", inherited], ...SANDBOXES.map((name) => [name, t(`admin.sandbox.${name}`)] as const)]} />
        </Field>
        <Limits value={value} set={set} />
        <Lists value={value} set={set} />
      </div>
      <Field label={t("admin.projects.system_prompt")}>
        <TextArea rows={3} value={value.append_system_prompt} change={(text) => set({ append_system_prompt: text })} />
      </Field>
    </>
  );
}

function Limits({ value, set }: PartProps) {
  const inherited = t("admin.projects.inherited");
  return (
    <>
      <Field label={t("admin.projects.parallel")}>
        <TextField value={value.parallel} placeholder={inherited} inputMode="numeric" pattern="[0-9]*" change={(parallel) => set({ parallel })} />
      </Field>
      <Field label={t("admin.projects.cost_limit")}>
        <TextField value={value.cost_limit_usd} placeholder={inherited} inputMode="decimal" pattern="[0-9]*[.]?[0-9]*" change={(amount) => set({ cost_limit_usd: amount })} />
      </Field>
    </>
  );
}

function Lists({ value, set }: PartProps) {
  return (
    <>
      <Field label={t("admin.projects.allowed_tools")} hint={t("admin.projects.one_per_line")}>
        <TextArea
          class="mono"
          rows={2}
          placeholder={[...toolsOf("read").slice(0, 1), ...toolsOf("find").slice(0, 1)].join("\n")}
          value={value.allowed_tools}
          change={(text) => set({ allowed_tools: text })}
        />
      </Field>
      <Field label={t("admin.projects.add_dirs")} hint={t("admin.projects.one_per_line")}>
        <TextArea class="mono" rows={2} value={value.add_dirs} change={(text) => set({ add_dirs: text })} />
      </Field>
    </>
  );
}

function AskUserOptions({ value, set }: PartProps) {
  const inherited = t("admin.projects.inherited");
  const choices = [
    ["", inherited],
    ["yes", t("admin.yes")],
    ["no", t("admin.no")],
  ] as const;
  return (
    <div class="two">
      <Field label={t("admin.projects.ask_user")}>
        <Select value={value.ask_user_enabled} change={(enabled) => set({ ask_user_enabled: enabled as "" })} options={choices} />
      </Field>
      <Field label={t("admin.projects.ask_user_timeout")} hint={t("admin.projects.seconds", { low: 30, high: 900 })}>
        <TextField value={value.ask_user_timeout} placeholder={inherited} inputMode="numeric" pattern="[0-9]*" change={(text) => set({ ask_user_timeout: text })} />
      </Field>
    </div>
  );
}

/** How long each kind of request waits for an answer. */
function Timeouts({ value, set }: PartProps) {
  return (
    <fieldset class="field">
      <legend>
        {t("admin.projects.patience")} <small class="quiet-text">{t("admin.projects.patience_hint")}</small>
      </legend>
      <div class="four">
        {KINDS.map((kind) => (
          <Field key={kind} label={t(`card.kind.${kind}`)}>
            <TextField
              inputMode="decimal"
              pattern="[0-9]*[.]?[0-9]*"
              placeholder={t("admin.projects.no_timeout")}
              value={value.patience[kind]}
              change={(text) => set({ patience: { ...value.patience, [kind]: text } })}
            />
          </Field>
        ))}
      </div>
    </fieldset>
  );
}
