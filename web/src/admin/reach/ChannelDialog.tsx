/** Adds or changes a channel: what it is called, where it sends to, and how much it says. Secrets are only written. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Channel, ChannelField, ChannelKind } from "../../generated/api";
import { Alert } from "../../parts/Alert";
import { Dialog } from "../../parts/Dialog";
import { Field, Select, SubmitForm, TextField, Tick } from "../../parts/Form";
import { may } from "../../store/desk";
import { ask, post } from "../../store/http";
import { reveal } from "../../text/reveal";
import { t, textOr } from "../../texts";
import { bodyOf, changeOf, draftOf, type ChannelDraft } from "./channel";
import { ReachIcon } from "./icons";
import { BASE, useRunner } from "./reading";

interface ChannelDialogProps {
  /** None: a new one. */
  channel: Channel | null;
  kinds: readonly ChannelKind[];
  done: () => void;
  close: () => void;
}

type Set = (part: Partial<ChannelDraft>) => void;

export function ChannelDialog({ channel, kinds, done, close }: ChannelDialogProps) {
  const draft = useSignal<ChannelDraft>(draftOf(channel, kinds));
  const { trouble, busy, run } = useRunner(done);
  const set: Set = (part) => (draft.value = { ...draft.value, ...part });
  const fields = kinds.find((each) => each.kind === draft.value.kind)?.fields ?? [];
  const save = async () => {
    const path = `${BASE}/channels`;
    const saved = await run(() => (channel ? ask("PATCH", `${path}/${encodeURIComponent(channel.id)}`, changeOf(draft.value, fields)) : post(path, bodyOf(draft.value, fields))));
    if (saved) close();
  };
  return (
    <Dialog title={channel ? t("notifications.channels.edit_title") : t("notifications.channels.add_title")} close={close}>
      <SubmitForm class="stack" submit={save}>
        {!channel && <KindChoice kinds={kinds} value={draft.value.kind} choose={(kind) => (draft.value = draftOf(null, kinds, kind, draft.value))} />}
        <Field label={t("notifications.form.name")} hint={t("notifications.form.name_hint")}>
          <TextField required maxLength={100} value={draft.value.name} change={(name) => set({ name })} />
        </Field>
        <KindFields channel={channel} fields={fields} draft={draft.value} set={set} />
        <ContentChoice draft={draft.value} set={set} />
        {!channel && may("admin") && (
          <Tick checked={draft.value.shared} change={(shared) => set({ shared })}>
            {t("notifications.form.shared")}
          </Tick>
        )}
        <Alert text={trouble.value} />
        <div class="row-of-buttons">
          <button type="submit" class="primary" disabled={busy.value}>
            {channel ? t("page.save") : t("notifications.channels.add")}
          </button>
          <button type="button" class="quiet" onClick={close}>
            {t("page.cancel")}
          </button>
        </div>
      </SubmitForm>
    </Dialog>
  );
}

function KindChoice({ kinds, value, choose }: { kinds: readonly ChannelKind[]; value: ChannelDraft["kind"]; choose: (kind: ChannelDraft["kind"]) => void }) {
  const id = useId();
  return (
    <fieldset class="field kind-choice">
      <legend>{t("notifications.form.kind")}</legend>
      {kinds.map(({ kind }) => (
        <label key={kind} class="option-card">
          <input type="radio" name={id} checked={kind === value} onChange={() => choose(kind)} />
          <ReachIcon name={kind} />
          <span>
            <strong>{t(`notifications.kind.${kind}`)}</strong>
            <small class="quiet-text">{t(`notifications.form.${kind}`)}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function KindFields({ channel, fields, draft, set }: { channel: Channel | null; fields: readonly ChannelField[]; draft: ChannelDraft; set: Set }) {
  const change = (name: string) => (text: string) => set({ fields: { ...draft.fields, [name]: text } });
  return (
    <div class="two">
      {fields.map((field) => {
        const isKept = channel?.secrets.includes(field.name) === true;
        const hint = textOr(`notifications.field_hint.${draft.kind}.${field.name}`, "");
        return (
          <div key={`${draft.kind} ${field.name}`} class={hint || field.name === "url" || field.name === "server" ? "wide-field stacked" : "stacked"}>
            <Field label={textOr(`notifications.field.${draft.kind}.${field.name}`, field.name)} hint={field.required || field.default ? undefined : t("notifications.form.optional")}>
              <FieldInput field={field} value={draft.fields[field.name] ?? ""} isKept={isKept} change={change(field.name)} />
            </Field>
            {hint && <small class="quiet-text">{hint}</small>}
          </div>
        );
      })}
    </div>
  );
}

function FieldInput({ field, value, isKept, change }: { field: ChannelField; value: string; isKept: boolean; change: (text: string) => void }) {
  if (field.choices.length) return <Select value={value || field.default} change={change} options={field.choices.map((each) => [each, textOr(`notifications.security.${each}`, each)])} />;
  return (
    <TextField
      type={field.secret ? "password" : "text"}
      class={field.name === "url" || field.name === "topic" ? "mono" : ""}
      autocomplete={field.secret ? "new-password" : "off"}
      autocapitalize="off"
      spellcheck={false}
      required={field.required && !isKept}
      placeholder={isKept ? t("notifications.form.kept") : reveal(field.default)}
      value={value}
      change={change}
    />
  );
}

function ContentChoice({ draft, set }: { draft: ChannelDraft; set: Set }) {
  const id = useId();
  const option = (value: boolean, name: string, hint: string) => (
    <label class="option-card">
      <input type="radio" name={id} checked={draft.withContent === value} onChange={() => set({ withContent: value })} />
      <span>
        <strong>{name}</strong>
        <small class="quiet-text">{hint}</small>
      </span>
    </label>
  );
  return (
    <fieldset class="field">
      <legend>{t("notifications.form.what")}</legend>
      {option(false, t("notifications.form.without"), t("notifications.form.without_hint"))}
      {option(true, t("notifications.form.with"), t("notifications.form.with_hint"))}
    </fieldset>
  );
}
