/** Where a person says something. What Claude has not taken yet stands above it. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ItemOf, Session } from "../feed/model";
import { Icon } from "../parts/Icons";
import { may } from "../store/desk";
import { dropDraft, useDraft } from "../store/drafts";
import { get, inWords, post, Refused } from "../store/http";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { PickPictures, Pictures, usePictures } from "./Pictures";

export function Composer({ session, waiting }: { session: Session; waiting: readonly ItemOf<"said">[] }) {
  const [text, setText] = useDraft(`say.${session.id}`, "");
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const pictures = usePictures();
  const field = useRef<HTMLTextAreaElement>(null);
  const say = useRef<string | null>(null);
  const ended = session.ended !== null;
  const hint = ended ? t("page.chat.resume_hint") : session.phase === "working" ? t("page.chat.guide") : t("page.chat.message");
  const allowed = may(ended ? "admin" : "approver");

  useEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight * 0.4)}px`;
  }, [text]);

  const send = async () => {
    const images = pictures.told();
    if (busy.value || (!text.trim() && !images.length)) return;
    busy.value = true;
    trouble.value = null;
    // The same id for every try: what reached the hub and was not confirmed is not said twice.
    say.current ??= crypto.randomUUID();
    try {
      const path = `/api/sessions/${encodeURIComponent(session.id)}`;
      if (ended) await resume(path);
      await post(`${path}/say`, { text, images, id: say.current });
      say.current = null;
      setText("");
      dropDraft(`say.${session.id}`);
      pictures.clear();
    } catch (error) {
      trouble.value = inWords(error);
    } finally {
      busy.value = false;
      field.current?.focus();
    }
  };

  return (
    <div class="composer" {...pictures.drop}>
      {waiting.map((item) => (
        <div key={item.cursor} class="not-taken">
          <Icon name="clock" />
          <span class="not-taken-text">{reveal(item.text)}</span>
          <span class="quiet-text">{t("page.chat.not_received")}</span>
        </div>
      ))}
      {trouble.value && (
        <p class="note trouble" role="alert">
          {reveal(trouble.value)}
        </p>
      )}
      <Pictures pictures={pictures} />
      <form
        class="say"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <PickPictures pictures={pictures} disabled={!allowed} />
        <textarea
          id="say"
          ref={field}
          rows={1}
          placeholder={hint}
          aria-label={hint}
          value={text}
          disabled={!allowed}
          onPaste={pictures.paste}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              void send();
            } else if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
        <button type="submit" class="primary round" aria-label={t("page.chat.send")} title={t("page.chat.send")} disabled={!allowed || busy.value || (!text.trim() && !pictures.images.value.length)}>
          <Icon name="send" />
        </button>
      </form>
    </div>
  );
}

/** That it was resumed meanwhile, by a try that was not confirmed or by somebody else, is as good. */
async function resume(path: string): Promise<void> {
  try {
    await post(`${path}/resume`);
  } catch (error) {
    if (!(error instanceof Refused) || (await get<Session>(path)).ended) throw error;
  }
}
