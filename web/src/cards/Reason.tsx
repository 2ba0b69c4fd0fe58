/** The text that goes with a refusal: Enter sends it, Escape goes back. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { sendsMessage } from "../chat/sending";
import { SubmitForm } from "../parts/Form";

interface ReasonProps {
  label: string;
  text: string;
  change: (text: string) => void;
  rows: number;
  send: () => void;
  leave: () => void;
  /** The buttons below it. */
  children: ComponentChildren;
}

export function Reason({ label, text, change, rows, send, leave, children }: ReasonProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // Before the next letter arrives: what is typed after `d` is the reason.
  useLayoutEffect(() => field.current?.focus(), []);
  const press = (event: KeyboardEvent) => {
    if (sendsMessage(event)) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape") leave();
  };
  return (
    <SubmitForm class="controls column asks" data-own submit={send}>
      <textarea ref={field} rows={rows} aria-label={label} placeholder={label} value={text} onInput={(event) => change(event.currentTarget.value)} onKeyDown={press} />
      <div class="row-of-buttons">{children}</div>
    </SubmitForm>
  );
}
