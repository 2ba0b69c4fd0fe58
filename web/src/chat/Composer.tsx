/** Where a person writes to Claude. Messages that Claude has not received yet are shown above it. */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ItemOf, Session } from "../feed/model";
import { Alert } from "../parts/Alert";
import { SubmitForm } from "../parts/Form";
import { Icon } from "../parts/Icons";
import { Later } from "../parts/Later";
import { may } from "../store/desk";
import { NotDone, TakeBack } from "./NotDone";
import { dropDraft, useDraft } from "../store/drafts";
import { explainError, get, post, Refused } from "../store/http";
import { awayOf } from "../store/machines";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { type CompletionSource, useCompletion } from "./completion";
import { Foot } from "./Foot";
import { PickPictures, Pictures, usePictures, type Attachments } from "./Pictures";
import { sendsMessage } from "./sending";
import { useRecall } from "./recalling";

export function Composer({ session, waiting }: { session: Session; waiting: readonly ItemOf<"said">[] }) {
  const [text, setText] = useDraft(`say.${session.id}`, "");
  const pictures = usePictures(`say.${session.id}`);
  const field = useRef<HTMLTextAreaElement>(null);
  const dialog = useSignal(false);
  const { busy, trouble, send } = useSend(session, text, pictures, () => setText(""), field);
  const allowed = may(session.ended ? "admin" : "approver");
  const completion = useCompletion(sourceOf(session), field, setText);
  const recall = useRecall(session, field, text, setText);
  const run = (work: Promise<unknown>) => {
    trouble.value = null;
    work.catch((error) => (trouble.value = explainError(error)));
  };
  useEffect(() => grow(field.current), [text]);
  const press = (event: KeyboardEvent) => {
    if (event.isComposing || completion.press(event) || recall.press(event)) return;
    if (!sendsMessage(event)) return;
    event.preventDefault();
    void send();
  };
  return (
    <div class="composer" {...pictures.drop}>
      <NotDone session={session} />
      <NotReceived session={session} waiting={waiting} />
      <Alert text={trouble.value} />
      <Pictures pictures={pictures} />
      <SubmitForm class="say" submit={send}>
        {completion.list}
        <PickPictures pictures={pictures} disabled={!allowed} />
        <textarea
          id="say"
          ref={field}
          rows={1}
          placeholder={hintOf(session)}
          aria-label={hintOf(session)}
          value={text}
          disabled={!allowed}
          onPaste={pictures.paste}
          onInput={(event) => {
            setText(event.currentTarget.value);
            completion.typed();
          }}
          onKeyDown={press}
          {...completion.attributes}
        />
        <button type="submit" class="primary round" aria-label={t("page.chat.send")} title={t("page.chat.send")} disabled={!allowed || busy.value || (!text.trim() && !pictures.any)}>
          <Icon name="send" />
        </button>
      </SubmitForm>
      <Foot session={session} run={run} anotherModel={() => (dialog.value = true)} />
      {dialog.value && (
        <Later quiet load={() => import("./SessionDialog")}>
          {({ SessionDialog }) => <SessionDialog name="model" session={session} run={run} close={() => (dialog.value = false)} />}
        </Later>
      )}
    </div>
  );
}

/** Sends the message once; a session that has ended is resumed for it. */
function useSend(session: Session, text: string, pictures: Attachments, clear: () => void, field: RefObject<HTMLTextAreaElement | null>) {
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const id = useRef<string | null>(null);
  const send = async () => {
    if (busy.value || (!text.trim() && !pictures.any)) return;
    const images = pictures.encoded();
    const say = pictures.withText(text);
    busy.value = true;
    trouble.value = null;
    // The same id for every attempt: a message that reached the hub without a confirmation is not sent twice.
    id.current ??= crypto.randomUUID();
    try {
      const path = `/api/sessions/${encodeURIComponent(session.id)}`;
      // A machine that is away resumes it when it returns, with this message.
      if (session.ended && awayOf(session)) await post(`${path}/resume`, { say, images });
      else {
        if (session.ended) await resume(path);
        await post(`${path}/say`, { text: say, images, id: id.current });
      }
      id.current = null;
      clear();
      dropDraft(`say.${session.id}`);
      pictures.clear();
    } catch (error) {
      trouble.value = explainError(error);
    } finally {
      busy.value = false;
      field.current?.focus();
    }
  };
  return { busy, trouble, send };
}

function NotReceived({ session, waiting }: { session: Session; waiting: readonly ItemOf<"said">[] }) {
  const away = awayOf(session) !== undefined;
  return (
    <>
      {waiting.map((item) => (
        <div key={item.cursor} class="not-taken">
          <Icon name="clock" />
          <span class="not-taken-text">{reveal(item.text)}</span>
          <span class="quiet-text">{t("page.chat.not_received")}</span>
          {away && may("approver") && <TakeBack path={`/api/says/${encodeURIComponent(item.say)}`} />}
        </div>
      ))}
    </>
  );
}

/** Where the commands and files of a message come from. */
function sourceOf({ id }: Session): CompletionSource {
  const session = encodeURIComponent(id);
  return { abilities: `session=${session}`, files: `/api/sessions/${session}/files?q=` };
}

function hintOf(session: Session): string {
  if (session.ended) return t("page.chat.resume_hint");
  return session.phase === "working" ? t("page.chat.guide") : t("page.chat.message");
}

function grow(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight * 0.4)}px`;
}

/** If it was resumed meanwhile, by an unconfirmed attempt or by someone else, that is fine too. */
async function resume(path: string): Promise<void> {
  try {
    await post(`${path}/resume`);
  } catch (error) {
    if (!(error instanceof Refused) || (await get<Session>(path)).ended) throw error;
  }
}
