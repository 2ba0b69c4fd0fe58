/** A new session: where, what to do, in which mode, with which model. */
import { signal, useSignal } from "@preact/signals";
import type { Session } from "../generated/api";
import { Dialog } from "../parts/Dialog";
import { projects, sessions } from "../store/desk";
import { inWords, post } from "../store/http";
import { go, pathOf } from "../store/place";
import { useDraft, dropDraft } from "../store/drafts";
import { reveal } from "../text/reveal";
import { t, textOr } from "../texts";
import { PickPictures, Pictures, usePictures } from "../chat/Pictures";
import { MODELS, ModeChoices, NEVER_ASKS } from "./modes";

export const starting = signal(false);

export function NewSession() {
  const directories = [...new Set([...sessions.value.values()].map((session) => session.directory))];
  const known = projects.value.map((project) => project.path);
  const others = directories.filter((each) => !known.includes(each));
  const [say, setSay] = useDraft("new.say", "");
  const project = useSignal(projects.value[0]?.id ?? others[0] ?? "");
  const path = useSignal("");
  const mode = useSignal("");
  const model = useSignal("");
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const pictures = usePictures();

  const start = async () => {
    if (busy.value) return;
    busy.value = true;
    trouble.value = null;
    try {
      const session = await post<Session>("/api/sessions", {
        say,
        project: project.value || path.value.trim(),
        mode: mode.value || null,
        model: model.value.trim() || null,
        images: pictures.told(),
      });
      dropDraft("new.say");
      starting.value = false;
      go(pathOf({ view: "session", id: session.id }));
    } catch (error) {
      trouble.value = inWords(error);
    } finally {
      busy.value = false;
    }
  };

  return (
    <Dialog title={t("page.new_session.title")} close={() => (starting.value = false)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
        {...pictures.drop}
      >
        <label class="field">
          <span>{t("page.new_session.prompt")}</span>
          <textarea
            rows={5}
            required={!pictures.images.value.length}
            autofocus
            value={say}
            placeholder={t("page.new_session.prompt_hint")}
            onPaste={pictures.paste}
            onInput={(event) => setSay(event.currentTarget.value)}
          />
        </label>
        <Pictures pictures={pictures} />
        <label class="field">
          <span>{t("page.new_session.project")}</span>
          <select value={project.value} onChange={(event) => (project.value = event.currentTarget.value)}>
            {projects.value.map((each) => (
              <option key={each.id} value={each.id}>
                {reveal(each.name)} ({reveal(each.path)})
              </option>
            ))}
            {others.map((each) => (
              <option key={each} value={each}>
                {reveal(each)}
              </option>
            ))}
            <option value="">{t("page.new_session.another_directory")}</option>
          </select>
        </label>
        {project.value === "" && (
          <label class="field">
            <span>{t("page.new_session.path")}</span>
            <input class="mono" required value={path.value} placeholder="/home/me/project" onInput={(event) => (path.value = event.currentTarget.value)} />
          </label>
        )}
        <div class="two">
          <label class="field">
            <span>{t("page.new_session.mode")}</span>
            <select value={mode.value} onChange={(event) => (mode.value = event.currentTarget.value)}>
              <option value="">{t("page.new_session.project_default")}</option>
              <ModeChoices />
            </select>
          </label>
          <label class="field">
            <span>{t("page.new_session.model")}</span>
            <input value={model.value} list="models" placeholder={t("page.new_session.project_default")} onInput={(event) => (model.value = event.currentTarget.value)} />
            <datalist id="models">
              {MODELS.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          </label>
        </div>
        {mode.value && <p class={mode.value === NEVER_ASKS ? "note trouble" : "note"}>{textOr(`page.mode.detail.${mode.value}`, "")}</p>}
        {trouble.value && (
          <p class="note trouble" role="alert">
            {reveal(trouble.value)}
          </p>
        )}
        <div class="row-of-buttons">
          <button type="submit" class="primary" disabled={busy.value}>
            {t("page.new_session.button")} <kbd aria-hidden="true">Ctrl Enter</kbd>
          </button>
          <PickPictures pictures={pictures}>{t("page.chat.attach")}</PickPictures>
        </div>
      </form>
    </Dialog>
  );
}
