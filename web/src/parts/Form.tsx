/** A form and its fields: passes on what is typed or chosen as a value, and never leaves the page. */
import type { ComponentChildren, FormHTMLAttributes, InputHTMLAttributes, SelectHTMLAttributes, TextareaHTMLAttributes } from "preact";

type FormProps = Omit<FormHTMLAttributes<HTMLFormElement>, "onSubmit"> & { submit: () => unknown };

/** Ctrl Enter sends from every field of it. */
export function SubmitForm({ submit, children, onKeyDown, ...rest }: FormProps) {
  return (
    <form
      {...rest}
      onKeyDown={(event) => {
        if (onKeyDown) onKeyDown(event);
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }
      }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {children}
    </form>
  );
}

/** A labelled field, with a hint next to its name. */
export function Field({ label, hint, children }: { label: string; hint?: string | undefined; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>
        {label} {hint && <small class="quiet-text">{hint}</small>}
      </span>
      {children}
    </label>
  );
}

type TextProps = Omit<InputHTMLAttributes<HTMLInputElement>, "onInput" | "value"> & { value: string; list?: string | undefined; change: (text: string) => void };

export function TextField({ change, ...rest }: TextProps) {
  return <input {...(rest as object)} onInput={(event) => change(event.currentTarget.value)} />;
}

type AreaProps = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "onInput" | "value"> & { value: string; change: (text: string) => void };

export function TextArea({ change, ...rest }: AreaProps) {
  return <textarea {...(rest as object)} onInput={(event) => change(event.currentTarget.value)} />;
}

type SelectProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange" | "value"> & {
  value: string | number;
  change: (value: string) => void;
  /** Values and their names. */
  options?: readonly (readonly [string | number, string])[];
};

/** Its `children` come before the options. */
export function Select({ value, change, options = [], children, ...rest }: SelectProps) {
  return (
    <select {...(rest as object)} value={String(value)} onChange={(event) => change(event.currentTarget.value)}>
      {children}
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}

export function Tick({ checked, change, disabled = false, children }: { checked: boolean; change: (checked: boolean) => void; disabled?: boolean; children: ComponentChildren }) {
  return (
    <label class="tick">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => change(event.currentTarget.checked)} /> {children}
    </label>
  );
}

/** A field that suggests some values, and accepts any. */
export function Suggestions({ id, values }: { id: string; values: readonly string[] }) {
  return (
    <datalist id={id}>
      {values.map((each) => (
        <option key={each} value={each} />
      ))}
    </datalist>
  );
}
