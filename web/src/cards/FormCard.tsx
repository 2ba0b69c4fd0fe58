/** A form: real fields from its schema, checked before it is sent. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { AskOf } from "../feed/model";
import { useDraft } from "../store/drafts";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { ChoiceButton, forAll } from "./Bar";
import type { Acting } from "./Card";
import { leaveText, useKeys } from "./keys";
import { fill, firstDraft, readFields, type FieldSpec, type FormDraft } from "./schema";

export function FormCard({ ask, act, hand, disabled, all }: Acting & { ask: AskOf<"form"> }) {
  const fields = useMemo(() => readFields(ask.body.schema), [ask.digest]);
  const [draft, setDraft] = useDraft<FormDraft>(ask.id, firstDraft(fields));
  const wrong = useSignal<Record<string, string>>({});
  const send = () => {
    const filled = fill(fields, draft);
    if ("content" in filled) {
      wrong.value = {};
      act({ action: "accept", content: filled.content }, "send");
    } else {
      wrong.value = filled.wrong;
      document.getElementById(inputId(ask.id, Object.keys(filled.wrong)[0] ?? ""))?.focus();
    }
  };
  const focus = (id: string) => () => document.getElementById(id)?.focus();
  useKeys(ask, {
    fill: !disabled && focus(inputId(ask.id, fields[0]?.name ?? "")),
    decline: !disabled && focus(`decline-${ask.id}`),
    cancel: !disabled && focus(`cancel-${ask.id}`),
  });
  return (
    <form
      class="form"
      data-own
      data-fills
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        else leaveText(event);
      }}
    >
      <fieldset disabled={disabled} data-evidence>
        <legend class="unseen">{reveal(ask.body.message)}</legend>
        {fields.map((field, at) => (
          <FormField
            key={field.name}
            control={at === 0 ? "e" : undefined}
            id={inputId(ask.id, field.name)}
            field={field}
            value={draft[field.name]}
            trouble={wrong.value[field.name]}
            change={(value) => setDraft({ ...draft, [field.name]: value })}
          />
        ))}
      </fieldset>
      <div class="controls">
        <ChoiceButton hand={hand} name="send" label={forAll(t("page.card.form.send"), all)} tag="primary" disabled={disabled} shown="Ctrl Enter" />
        <ChoiceButton
          hand={hand}
          name="d"
          id={`decline-${ask.id}`}
          label={forAll(t("page.card.form.decline"), all)}
          tag="danger"
          disabled={disabled}
          does={() => act({ action: "decline" }, "d")}
          shown={null}
        />
        <ChoiceButton
          hand={hand}
          name="cancel"
          id={`cancel-${ask.id}`}
          label={forAll(t("page.card.form.cancel"), all)}
          tag="quiet"
          disabled={disabled}
          does={() => act({ action: "cancel" }, "cancel")}
          shown={null}
        />
      </div>
    </form>
  );
}

interface FormCardProps {
  id: string;
  control: string | undefined;
  field: FieldSpec;
  value: FormDraft[string] | undefined;
  trouble: string | undefined;
  change: (value: FormDraft[string]) => void;
}

function FormField({ id, control, field, value, trouble, change }: FormCardProps) {
  const hint = `${id}-hint`;
  const described = trouble || field.hint ? hint : undefined;
  return (
    <div class={`field${trouble ? " wrong" : ""}`} data-control={control}>
      {field.shape.kind !== "yes" && (
        <label for={id}>
          {reveal(field.title)} {!field.required && <span class="quiet-text">{t("page.form.optional")}</span>}
        </label>
      )}
      <Input id={id} field={field} value={value} change={change} described={described} invalid={trouble !== undefined} />
      {described && (
        <p id={hint} class={trouble ? "trouble" : "quiet-text"}>
          {reveal(trouble ?? field.hint)}
        </p>
      )}
    </div>
  );
}

function Input({ id, field, value, change, described, invalid }: Omit<FormCardProps, "trouble" | "control"> & { described: string | undefined; invalid: boolean }) {
  const { shape } = field;
  const common = { id, "aria-describedby": described, "aria-invalid": invalid || undefined, "aria-required": field.required || undefined };
  switch (shape.kind) {
    case "yes":
      return (
        <label class="tick">
          <input type="checkbox" {...common} checked={value === true} onChange={(event) => change(event.currentTarget.checked)} /> {reveal(field.title)}
        </label>
      );
    case "one":
      return (
        <select {...common} value={String(value ?? "")} onChange={(event) => change(event.currentTarget.value)}>
          <option value="">{t("page.form.choose")}</option>
          {shape.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {reveal(choice.title)}
            </option>
          ))}
        </select>
      );
    case "several": {
      const chosen = Array.isArray(value) ? value : [];
      return (
        <div id={id} class="ticks" role="group" aria-label={reveal(field.title)} tabIndex={-1}>
          {shape.choices.map((choice) => (
            <label key={choice.value} class="tick">
              <input
                type="checkbox"
                checked={chosen.includes(choice.value)}
                onChange={(event) => change(event.currentTarget.checked ? [...chosen, choice.value] : chosen.filter((each) => each !== choice.value))}
              />{" "}
              {reveal(choice.title)}
            </label>
          ))}
        </div>
      );
    }
    case "number":
      return <input type="text" inputMode={shape.whole ? "numeric" : "decimal"} {...common} value={String(value ?? "")} onInput={(event) => change(event.currentTarget.value)} />;
    case "text":
      return <input type={shape.input as "text"} {...common} value={String(value ?? "")} onInput={(event) => change(event.currentTarget.value)} />;
    case "other":
      return <textarea class="mono" rows={2} {...common} value={String(value ?? "")} onInput={(event) => change(event.currentTarget.value)} />;
  }
}

function inputId(ask: string, name: string): string {
  return `field-${ask}-${name}`;
}
