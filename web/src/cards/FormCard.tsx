/** A form: real fields from its schema, checked before it is sent. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { AskOf } from "../feed/model";
import { SubmitForm } from "../parts/Form";
import { useDraft } from "../store/drafts";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { choiceOf, type Acting } from "./acting";
import { Choice, Control, forAll } from "./Bar";
import { leaveText, useKeys } from "./keys";
import { fill, firstDraft, readFields, type FieldChoice, type FieldSpec, type FormDraft } from "./schema";

interface FormProps extends Acting {
  ask: AskOf<"form">;
}

export function FormCard(props: FormProps) {
  const { ask, act, disabled } = props;
  const fields = useMemo(() => readFields(ask.body.schema), [ask.digest]);
  const [draft, setDraft] = useDraft<FormDraft>(ask.id, firstDraft(fields));
  const wrong = useSignal<Record<string, string>>({});
  const send = () => {
    const filled = fill(fields, draft);
    wrong.value = "wrong" in filled ? filled.wrong : {};
    if ("content" in filled) act({ action: "accept", content: filled.content }, "send");
    else focus(inputId(ask.id, Object.keys(filled.wrong)[0] ?? ""))();
  };
  useKeys(ask, {
    fill: !disabled && focus(inputId(ask.id, fields[0]?.name ?? "")),
    decline: !disabled && focus(`decline-${ask.id}`),
    cancel: !disabled && focus(`cancel-${ask.id}`),
  });
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
    else leaveText(event);
  };
  return (
    <SubmitForm class="form" data-own data-fills noValidate submit={send} onKeyDown={press}>
      <FormFields ask={ask} disabled={disabled} fields={fields} draft={draft} setDraft={setDraft} wrong={wrong.value} />
      <FormBar {...props} />
    </SubmitForm>
  );
}

const focus = (id: string) => () => document.getElementById(id)?.focus();

interface FormFieldsProps {
  ask: AskOf<"form">;
  disabled: boolean;
  fields: readonly FieldSpec[];
  draft: FormDraft;
  setDraft: (draft: FormDraft) => void;
  wrong: Record<string, string>;
}

function FormFields({ ask, disabled, fields, draft, setDraft, wrong }: FormFieldsProps) {
  return (
    <fieldset disabled={disabled} data-evidence>
      <legend class="unseen">{reveal(ask.body.message)}</legend>
      {fields.map((field, at) => (
        <FormField
          key={field.name}
          control={at === 0 ? "e" : undefined}
          id={inputId(ask.id, field.name)}
          field={field}
          value={draft[field.name]}
          trouble={wrong[field.name]}
          change={(value) => setDraft({ ...draft, [field.name]: value })}
        />
      ))}
    </fieldset>
  );
}

/** Keys only lead to the buttons here: a letter may be meant for a field. */
function FormBar({ ask, hand, choose, disabled, all }: FormProps) {
  const [decline, cancel] = ["decline", "cancel"].map((act) => choiceOf(ask, act));
  return (
    <div class="controls">
      <Control hand={hand} name="send" label={forAll(t("page.card.send"), all)} tag="primary" disabled={disabled} shown="Ctrl Enter" />
      <Choice hand={hand} choice={decline} id={`decline-${ask.id}`} all={all} tag="danger" disabled={disabled} does={() => choose(decline)} quiet />
      <Choice hand={hand} choice={cancel} id={`cancel-${ask.id}`} all={all} tag="quiet" disabled={disabled} does={() => choose(cancel)} quiet />
    </div>
  );
}

interface FormFieldProps {
  id: string;
  control: string | undefined;
  field: FieldSpec;
  value: FormDraft[string] | undefined;
  trouble: string | undefined;
  change: (value: FormDraft[string]) => void;
}

function FormField({ id, control, field, value, trouble, change }: FormFieldProps) {
  const hint = `${id}-hint`;
  const described = trouble || field.hint ? hint : undefined;
  return (
    <div class={`field${trouble ? " wrong" : ""}`} data-control={control}>
      {field.shape.kind !== "yes" && (
        <label for={id}>
          {reveal(field.title)} {!field.required && <span class="quiet-text">{t("page.form.optional")}</span>}
        </label>
      )}
      <FieldInput id={id} field={field} value={value} change={change} described={described} invalid={trouble !== undefined} />
      {described && (
        <p id={hint} class={trouble ? "trouble" : "quiet-text"}>
          {reveal(trouble ?? field.hint)}
        </p>
      )}
    </div>
  );
}

interface FieldInputProps extends Omit<FormFieldProps, "trouble" | "control"> {
  described: string | undefined;
  invalid: boolean;
}

function FieldInput({ id, field, value, change, described, invalid }: FieldInputProps) {
  const { shape } = field;
  const common = { id, "aria-describedby": described, "aria-invalid": invalid || undefined, "aria-required": field.required || undefined };
  const text = { ...common, value: String(value ?? ""), onInput: (event: Event) => change((event.currentTarget as HTMLInputElement).value) };
  switch (shape.kind) {
    case "yes":
      return (
        <label class="tick">
          <input type="checkbox" {...common} checked={value === true} onChange={(event) => change(event.currentTarget.checked)} /> {reveal(field.title)}
        </label>
      );
    case "one":
      return <OneOf common={common} choices={shape.choices} value={String(value ?? "")} change={change} />;
    case "several":
      return <SeveralOf id={id} title={reveal(field.title)} choices={shape.choices} chosen={Array.isArray(value) ? value : []} change={change} />;
    case "number":
      return <input type="text" inputMode={shape.whole ? "numeric" : "decimal"} {...text} />;
    case "text":
      return <input type={shape.input as "text"} {...text} />;
    case "other":
      return <textarea class="mono" rows={2} {...text} />;
  }
}

function OneOf({ common, choices, value, change }: { common: object; choices: readonly FieldChoice[]; value: string; change: (value: string) => void }) {
  return (
    <select {...common} value={value} onChange={(event) => change(event.currentTarget.value)}>
      <option value="">{t("page.form.choose")}</option>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {reveal(choice.title)}
        </option>
      ))}
    </select>
  );
}

function SeveralOf({ id, title, choices, chosen, change }: { id: string; title: string; choices: readonly FieldChoice[]; chosen: string[]; change: (value: string[]) => void }) {
  const toggle = (value: string, wanted: boolean) => change(wanted ? [...chosen, value] : chosen.filter((each) => each !== value));
  return (
    <div id={id} class="ticks" role="group" aria-label={title} tabIndex={-1}>
      {choices.map((choice) => (
        <label key={choice.value} class="tick">
          <input type="checkbox" checked={chosen.includes(choice.value)} onChange={(event) => toggle(choice.value, event.currentTarget.checked)} /> {reveal(choice.title)}
        </label>
      ))}
    </div>
  );
}

function inputId(ask: string, name: string): string {
  return `field-${ask}-${name}`;
}
