/** The dialogs of a session: rename it, change its model, fork it, stop it. */
import { useSignal, type Signal } from "@preact/signals";
import type { Session } from "../feed/model";
import { Alert } from "../parts/Alert";
import { Dialog } from "../parts/Dialog";
import { SubmitForm, Suggestions, TextArea, TextField } from "../parts/Form";
import { MODELS } from "../sessions/modes";
import { ask, explainError, post } from "../store/http";
import { go, pathOf } from "../store/place";
import { t } from "../texts";

export type DialogName = "fork" | "rename" | "stop" | "model";

interface SessionDialogProps {
  name: DialogName;
  session: Session;
  run: (work: Promise<unknown>) => void;
  close: () => void;
}

export function SessionDialog({ name, session, run, close }: SessionDialogProps) {
  const path = `/api/sessions/${encodeURIComponent(session.id)}`;
  const setModel = (model: string) => post(`${path}/model`, { model: model.trim() });
  const fork = async (say: string) => {
    const made = await post<Session>(`${path}/fork`, { say });
    go(pathOf({ view: "session", id: made.id }));
  };
  switch (name) {
    case "rename":
      return <TextDialog title={t("page.chat.rename_title")} first={session.title} button={t("page.save")} close={close} submit={(title) => ask("PATCH", path, { title })} />;
    case "model":
      return (
        <TextDialog title={t("page.chat.model_title")} hint={t("page.chat.model_hint")} first={session.model ?? ""} button={t("page.save")} close={close} suggestions={MODELS} submit={setModel} />
      );
    case "fork":
      return <TextDialog title={t("page.chat.fork_title")} hint={t("page.chat.fork_hint")} long button={t("page.chat.fork")} close={close} submit={fork} />;
    case "stop":
      return <StopDialog stop={() => run(post(`${path}/stop`))} close={close} />;
  }
}

function StopDialog({ stop, close }: { stop: () => void; close: () => void }) {
  return (
    <Dialog title={t("page.chat.stop_title")} close={close}>
      <p>{t("page.chat.stop_hint")}</p>
      <div class="row-of-buttons">
        <button
          type="button"
          class="danger"
          onClick={() => {
            close();
            stop();
          }}
        >
          {t("page.chat.stop")}
        </button>
        <button type="button" class="quiet" onClick={close}>
          {t("page.cancel")}
        </button>
      </div>
    </Dialog>
  );
}

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

/** Asks for one text, and stays open until the hub has accepted it. */
function TextDialog({ title, hint, first = "", long = false, button, suggestions, close, submit }: TextDialogProps) {
  const text = useSignal(first);
  const { busy, trouble, send } = useSubmit(text, submit, close);
  const common = { required: true, autofocus: true, "aria-label": title, value: text.value, change: (next: string) => (text.value = next) };
  return (
    <Dialog title={title} close={close}>
      <SubmitForm class="stack" submit={send}>
        {hint && <p>{hint}</p>}
        {long ? <TextArea rows={4} {...common} /> : <TextField list={suggestions ? "choices" : undefined} {...common} />}
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
