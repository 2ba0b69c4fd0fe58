/** A comment on a line: written below it, and sent to Claude as a message. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../feed/model";
import { Alert } from "../parts/Alert";
import { SubmitForm } from "../parts/Form";
import { dropDraft, useDraft } from "../store/drafts";
import { explainError, post } from "../store/http";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { commentFor, type LineName, nameOf } from "./lines";

interface CommentFormProps {
  session: Session;
  line: LineName;
  close: () => void;
  sent: (text: string) => void;
}

export function CommentForm({ session, line, close, sent }: CommentFormProps) {
  const draft = `comment.${session.id}.${nameOf(line)}`;
  const [text, setText] = useDraft(draft, "");
  const field = useRef<HTMLTextAreaElement>(null);
  const { trouble, busy, send } = useSend(session, commentFor(line, text), () => {
    dropDraft(draft);
    sent(text.trim());
  });
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const submit = () => {
    if (text.trim()) void send();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <SubmitForm class="comment" submit={submit}>
      <textarea ref={field} rows={3} aria-label={t("review.comment")} placeholder={t("review.comment")} value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={keys} />
      <Alert text={trouble.value} />
      <div class="row-of-buttons">
        <button type="submit" class="primary" disabled={busy.value || !text.trim()}>
          {t("review.send")} <kbd aria-hidden="true">Ctrl Enter</kbd>
        </button>
        <button type="button" class="quiet" onClick={close}>
          {t("page.cancel")}
        </button>
        <span class="quiet-text">{t("review.comment_hint")}</span>
      </div>
    </SubmitForm>
  );
}

export function SentComment({ text }: { text: string }) {
  return (
    <div class="comment sent">
      <p class="said-text">{reveal(text)}</p>
      <p class="quiet-text" role="status">
        {t("review.sent")}
      </p>
    </div>
  );
}

/** Sends it once; a session that has ended is resumed with it. */
function useSend(session: Session, text: string, done: () => void) {
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  // The same id for every attempt: a comment that reached the hub without a confirmation is not sent twice.
  const id = useRef(crypto.randomUUID());
  const send = async () => {
    if (busy.value) return;
    busy.value = true;
    trouble.value = null;
    const path = `/api/sessions/${encodeURIComponent(session.id)}`;
    try {
      if (session.ended) await post(`${path}/resume`, { say: text });
      else await post(`${path}/say`, { text, id: id.current });
      done();
    } catch (error) {
      trouble.value = explainError(error);
    } finally {
      busy.value = false;
    }
  };
  return { trouble, busy, send };
}
