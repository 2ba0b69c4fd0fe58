/** The ask that a rule is being made from. The form is loaded when it is first needed. */
import { signal, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { Ask } from "../feed/model";

export const drafting = signal<Ask | null>(null);

export function Drafting({ ask }: { ask: Ask }) {
  const loaded = useSignal<{ Dialog: FunctionComponent<{ ask: Ask; close: () => void }> } | null>(null);
  useEffect(() => void import("./RuleDialog").then((found) => (loaded.value = { Dialog: found.default })), []);
  const Dialog = loaded.value?.Dialog;
  return Dialog ? <Dialog key={ask.id} ask={ask} close={() => (drafting.value = null)} /> : null;
}
