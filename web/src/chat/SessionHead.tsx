/** The head of a conversation: what it is, how it stands, and what can be done with it. */
import { useComputed, useSignal } from "@preact/signals";
import type { Session } from "../feed/model";
import { basename } from "../cards/sentence";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icons";
import { Menu } from "../parts/Menu";
import { now } from "../store/clock";
import { may, openBySession, sessionOf, sessions } from "../store/desk";
import { ask, inWords, post } from "../store/http";
import { go, pathOf } from "../store/place";
import { MODELS, ModeChoices } from "../sessions/modes";
import { groupOf, isAlarm, stateOf } from "../sessions/state";
import { reveal } from "../text/reveal";
import { dollars } from "../text/times";
import { t } from "../texts";
import { everything } from "./Entry";

type Asking = "fork" | "rename" | "stop" | "model";

export function SessionHead({ session }: { session: Session }) {
  const asking = useSignal<Asking | null>(null);
  const trouble = useSignal<string | null>(null);
  const asks = openBySession.value.get(session.id) ?? [];
  const state = useComputed(() => stateOf(session, openBySession.value.get(session.id) ?? [], sessions.value.values(), now.value)).value;
  const path = `/api/sessions/${encodeURIComponent(session.id)}`;
  const wish = (what: Promise<unknown>) => {
    trouble.value = null;
    what.catch((error) => (trouble.value = inWords(error)));
  };
  const close = () => (asking.value = null);
  return (
    <header class="session-head">
      <div class="session-name">
        <span class={`dot ${groupOf(session, asks, Date.now()).replace("_", "-")}`} />
        <div>
          <h1>{reveal(session.title)}</h1>
          <p class="session-facts">
            <span class={isAlarm(session) ? "trouble" : undefined}>{state}</span>
            <span title={session.directory}>{basename(session.directory)}</span>
            {session.model && <span class="wide-only">{reveal(session.model)}</span>}
            {session.cost_usd > 0 && <span>{dollars(session.cost_usd)}</span>}
            {session.forked_from && <Origin id={session.forked_from} />}
          </p>
        </div>
      </div>
      <div class="session-acts">
        {!session.ended && <Mode session={session} wish={wish} class="mode wide-only" />}
        {session.phase === "working" && (
          <button type="button" disabled={!may("approver")} title={`${t("page.chat.interrupt")} (i)`} onClick={() => wish(post(`${path}/interrupt`))}>
            <Icon name="pause" /> {t("page.chat.interrupt")}
          </button>
        )}
        {session.ended && (
          <button type="button" class="primary" disabled={!may("admin")} onClick={() => wish(post(`${path}/resume`))}>
            {t("page.chat.resume")}
          </button>
        )}
        <Acts session={session} choose={(what) => (asking.value = what)} wish={wish} />
      </div>
      {isAlarm(session) && (
        <p class="note trouble alarm" role="alert">
          {t("page.inbox.alarm")}: {reveal(session.ended?.reason ?? "")}
        </p>
      )}
      {trouble.value && (
        <p class="note trouble" role="alert">
          {reveal(trouble.value)}
        </p>
      )}
      {asking.value === "rename" && <AskText title={t("page.chat.rename_title")} first={session.title} button={t("page.save")} close={close} done={(title) => ask("PATCH", path, { title })} />}
      {asking.value === "model" && (
        <AskText
          title={t("page.chat.model_title")}
          says={t("page.chat.model_hint")}
          first={session.model ?? ""}
          button={t("page.save")}
          close={close}
          choices={MODELS}
          done={(model) => post(`${path}/model`, { model: model.trim() })}
        />
      )}
      {asking.value === "fork" && (
        <AskText
          title={t("page.chat.fork_title")}
          says={t("page.chat.fork_hint")}
          long
          button={t("page.chat.fork")}
          close={close}
          done={async (say) => {
            const made = await post<Session>(`${path}/fork`, { say });
            go(pathOf({ view: "session", id: made.id }));
          }}
        />
      )}
      {asking.value === "stop" && (
        <Dialog title={t("page.chat.stop_title")} close={close}>
          <p>{t("page.chat.stop_hint")}</p>
          <div class="row-of-buttons">
            <button
              type="button"
              class="danger"
              onClick={() => {
                close();
                wish(post(`${path}/stop`));
              }}
            >
              {t("page.chat.stop")}
            </button>
            <button type="button" class="quiet" onClick={close}>
              {t("page.cancel")}
            </button>
          </div>
        </Dialog>
      )}
    </header>
  );
}

/** The session that this one was forked from. */
function Origin({ id }: { id: string }) {
  const origin = sessionOf(id);
  return (
    <span>
      {t("page.chat.forked_from")}{" "}
      <a data-inside href={pathOf({ view: "session", id })}>
        {reveal(origin?.title ?? id)}
      </a>
    </span>
  );
}

function Mode({ session, wish, class: name }: { session: Session; wish: (what: Promise<unknown>) => void; class: string }) {
  const change = (event: Event) => {
    const select = event.currentTarget as HTMLSelectElement;
    const mode = select.value;
    // The page shows what the hub says, and not what was wished.
    select.value = session.mode;
    wish(post(`/api/sessions/${encodeURIComponent(session.id)}/mode`, { mode }));
  };
  return (
    <select class={name} aria-label={t("page.mode.label")} value={session.mode} disabled={!may("admin")} onChange={change}>
      <ModeChoices and={session.mode} runs={session.phase !== "queued"} />
    </select>
  );
}

function Acts({ session, choose, wish }: { session: Session; choose: (what: Asking) => void; wish: (what: Promise<unknown>) => void }) {
  return (
    <Menu label={t("page.chat.menu.label")} icon="more">
      {(close) => {
        const act = (what: Asking) => () => {
          close();
          choose(what);
        };
        return (
          <>
            {!session.ended && (
              <div class="phone-only field">
                <Mode session={session} wish={wish} class="mode" />
              </div>
            )}
            <button type="button" class="quiet" disabled={!may("approver")} onClick={act("rename")}>
              {t("page.chat.menu.rename")}
            </button>
            {!session.ended && (
              <button type="button" class="quiet" disabled={!may("admin")} onClick={act("model")}>
                {t("page.chat.menu.model")}
              </button>
            )}
            <button type="button" class="quiet" disabled={!may("admin")} onClick={act("fork")}>
              {t("page.chat.menu.fork")}
            </button>
            {!session.ended && (
              <button type="button" class="quiet danger" disabled={!may("admin")} onClick={act("stop")}>
                {t("page.chat.menu.stop")}
              </button>
            )}
            <label class="tick">
              <input type="checkbox" checked={everything.value} onChange={(event) => (everything.value = event.currentTarget.checked)} /> {t("page.chat.menu.unrecognized")}
            </label>
            <p class="quiet-text mono">{reveal(session.directory)}</p>
            <p class="quiet-text mono">{session.id}</p>
          </>
        );
      }}
    </Menu>
  );
}

interface AskTextProps {
  title: string;
  says?: string;
  first?: string;
  long?: boolean;
  button: string;
  choices?: readonly string[];
  close: () => void;
  done: (text: string) => Promise<unknown>;
}

function AskText({ title, says, first = "", long = false, button, choices, close, done }: AskTextProps) {
  const text = useSignal(first);
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const submit = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      await done(text.value);
      close();
    } catch (error) {
      trouble.value = inWords(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title={title} close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {says && <p>{says}</p>}
        {long ? (
          <textarea rows={4} required autofocus aria-label={title} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        ) : (
          <input required autofocus aria-label={title} list={choices ? "choices" : undefined} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        )}
        {choices && (
          <datalist id="choices">
            {choices.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        )}
        {trouble.value && (
          <p class="note trouble" role="alert">
            {reveal(trouble.value)}
          </p>
        )}
        <div class="row-of-buttons">
          <button type="submit" class="primary" disabled={busy.value || !text.value.trim()}>
            {button}
          </button>
          <button type="button" class="quiet" onClick={close}>
            {t("page.cancel")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
