/** The dialogs of a session: rename it, change its model, fork it, stop it. */
import type { Session } from "../feed/model";
import type { Waiting } from "../generated/api";
import { Dialog } from "../parts/Dialog";
import { Later } from "../parts/Later";
import { TextDialog } from "../parts/TextDialog";
import { MODELS } from "../sessions/modes";
import { ask, post } from "../store/http";
import { go, pathOf } from "../store/place";
import { t } from "../texts";

export type DialogName = "fork" | "rename" | "stop" | "model" | "mute";

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
    const made = await post<Session | Waiting>(`${path}/fork`, { say });
    // On a machine that is away, it is forked later.
    if ("id" in made) go(pathOf({ view: "session", id: made.id }));
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
    case "mute":
      return (
        <Later quiet load={() => import("./MuteDialog")}>
          {({ MuteDialog }) => <MuteDialog session={session} close={close} />}
        </Later>
      );
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
