/** A dialog that asks for one text, and stays open until the hub has accepted it. */
import { useSignal, type Signal } from "@preact/signals";
import { sendsMessage } from "../chat/sending";
import { explainError } from "../store/http";
import { t } from "../texts";
import { Alert } from "./Alert";
import { Dialog } from "./Dialog";
import { SubmitForm, Suggestions, TextArea, TextField } from "./Form";

interface TextDialogProps {
  title: string;
  hint?: string;
  first?: string;
  long?: boolean;
  button: string;
  suggestions?: readonly string[];
  close: () => void;
  submit: (text: string) => Promise<unknown>;
}

export function TextDialog({ title, hint, first = "", long = false, button, suggestions, close, submit }: TextDialogProps) {
  const text = useSignal(first);
  const { busy, trouble, send } = useSubmit(text, submit, close);
  const common = { required: true, autofocus: true, "aria-label": title, value: text.value, change: (next: string) => (text.value = next) };
  return (
    <Dialog title={title} close={close}>
      <SubmitForm class="stack" submit={send}>
        {hint && <p>{hint}</p>}
        {long ? <TextArea rows={4} {...common} onKeyDown={(event) => sendsMessage(event) && submitNow(event)} /> : <TextField list={suggestions ? "choices" : undefined} {...common} />}
        {suggestions && <Suggestions id="choices" values={suggestions} />}
        <Alert text={trouble.value} />
        <div class="row-of-buttons">
          <button type="submit" class="primary" disabled={busy.value || !text.value.trim()}>
            {button}
          </button>
          <button type="button" class="quiet" onClick={close}>
            {t("page.cancel")}
          </button>
        </div>
      </SubmitForm>
    </Dialog>
  );
}

function submitNow(event: KeyboardEvent): void {
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}

function useSubmit(text: Signal<string>, submit: (text: string) => Promise<unknown>, close: () => void) {
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const send = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      await submit(text.value);
      close();
    } catch (error) {
      trouble.value = explainError(error);
    } finally {
      busy.value = false;
    }
  };
  return { busy, trouble, send };
}
