/** A labelled field of a form, with a hint beside its name. */
import type { ComponentChildren } from "preact";

export function Field({ label, says, children }: { label: string; says?: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>
        {label} {says && <small class="quiet-text">{says}</small>}
      </span>
      {children}
    </label>
  );
}
