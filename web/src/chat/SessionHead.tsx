/** The head of a conversation: what it is, how it stands, and what can be done with it. */
import { useSignal } from "@preact/signals";
import type { Session } from "../feed/model";
import { basename } from "../cards/Card";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icons";
import { dollars, now } from "../store/clock";
import { may, openBySession, sessions } from "../store/desk";
import { ask, inWords, post } from "../store/http";
import { go, pathOf } from "../store/place";
import { MODES } from "../sessions/NewSession";
import { groupOf, stateOf } from "../sessions/state";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { everything } from "./Entry";

export function SessionHead({ session }: { session: Session }) {
  const asking = useSignal<"fork" | "rename" | "stop" | null>(null);
  const trouble = useSignal<string | null>(null);
  const asks = openBySession.value.get(session.id) ?? [];
  const path = `/api/sessions/${encodeURIComponent(session.id)}`;
  const wish = (what: Promise<unknown>) => {
    trouble.value = null;
    what.catch((error) => (trouble.value = inWords(error, t.away)));
  };
  const modes = MODES.includes(session.mode) ? MODES : [...MODES, session.mode];
  return (
    <header class="session-head">
      <div class="session-name">
        <span class={`dot ${groupOf(session, asks).replace(" ", "-")}`} />
        <div>
          <h1>{reveal(session.title)}</h1>
          <p class="session-facts">
            <span>{stateOf(session, asks, sessions.value.values(), now.value)}</span>
            <span title={session.directory}>{basename(session.directory)}</span>
            {session.model && <span class="wide-only">{reveal(session.model)}</span>}
            {session.cost_usd > 0 && <span>{dollars(session.cost_usd)}</span>}
          </p>
        </div>
      </div>
      <div class="session-acts">
        {!session.ended && (
          <select class="mode" aria-label={t.sessions.mode} value={session.mode} disabled={!may("admin")} onChange={(event) => wish(post(`${path}/mode`, { mode: event.currentTarget.value }))}>
            {modes.map((mode) => (
              <option key={mode} value={mode}>
                {t.sessions.modes[mode] ?? mode}
              </option>
            ))}
          </select>
        )}
        {session.phase === "working" && (
          <button type="button" disabled={!may("approver")} onClick={() => wish(post(`${path}/interrupt`))}>
            <Icon name="pause" /> {t.chat.interrupt}
          </button>
        )}
        {session.ended && (
          <button type="button" class="primary" disabled={!may("admin")} onClick={() => wish(post(`${path}/resume`))}>
            {t.chat.resumeButton}
          </button>
        )}
        <Menu session={session} choose={(what) => (asking.value = what)} wish={wish} />
      </div>
      {trouble.value && <p class="note trouble" role="alert">{reveal(trouble.value)}</p>}
      {asking.value === "rename" && <AskText title={t.chat.renameTitle} first={session.title} button={t.save} close={() => (asking.value = null)} done={(title) => ask("PATCH", path, { title })} />}
      {asking.value === "fork" && (
        <AskText
          title={t.chat.forkTitle}
          says={t.chat.forkSays}
          button={t.start.button}
          close={() => (asking.value = null)}
          done={async (say) => {
            const made = await post<Session>(`${path}/fork`, { say });
            go(pathOf({ view: "session", id: made.id }));
          }}
        />
      )}
      {asking.value === "stop" && (
        <Dialog title={t.chat.stopTitle} close={() => (asking.value = null)}>
          <p>{t.chat.stopSays}</p>
          <div class="row-of-buttons">
            <button
              type="button"
              class="danger"
              onClick={() => {
                asking.value = null;
                wish(post(`${path}/stop`));
              }}
            >
              {t.chat.stop}
            </button>
          </div>
        </Dialog>
      )}
    </header>
  );
}

function Menu({ session, choose, wish }: { session: Session; choose: (what: "fork" | "rename" | "stop") => void; wish: (what: Promise<unknown>) => void }) {
  const model = useSignal(session.model ?? "");
  const pick = (event: Event, what: "fork" | "rename" | "stop") => {
    (event.currentTarget as HTMLElement).closest("details")?.removeAttribute("open");
    choose(what);
  };
  return (
    <details class="menu">
      <summary aria-label={t.chat.more} title={t.chat.more}>
        <Icon name="more" />
      </summary>
      <div class="menu-body">
        <button type="button" class="quiet" disabled={!may("approver")} onClick={(event) => pick(event, "rename")}>{t.chat.rename}</button>
        <button type="button" class="quiet" disabled={!may("admin")} onClick={(event) => pick(event, "fork")}>{t.chat.fork}</button>
        {!session.ended && <button type="button" class="quiet danger" disabled={!may("admin")} onClick={(event) => pick(event, "stop")}>{t.chat.stop}</button>}
        {!session.ended && (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              wish(post(`/api/sessions/${encodeURIComponent(session.id)}/model`, { model: model.value.trim() }));
            }}
          >
            <label class="field">
              <span>{t.sessions.model}</span>
              <input value={model.value} disabled={!may("admin")} onInput={(event) => (model.value = event.currentTarget.value)} />
            </label>
            <button type="submit" disabled={!may("admin") || !model.value.trim()}>{t.save}</button>
          </form>
        )}
        <label class="tick">
          <input type="checkbox" checked={everything.value} onChange={(event) => (everything.value = event.currentTarget.checked)} /> {t.chat.everything}
        </label>
        <p class="quiet-text mono">{reveal(session.directory)}</p>
        <p class="quiet-text mono">{session.id}</p>
      </div>
    </details>
  );
}

function AskText({ title, says, first = "", button, close, done }: { title: string; says?: string; first?: string; button: string; close: () => void; done: (text: string) => Promise<unknown> }) {
  const text = useSignal(first);
  const trouble = useSignal<string | null>(null);
  const submit = async () => {
    try {
      await done(text.value);
      close();
    } catch (error) {
      trouble.value = inWords(error, t.away);
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
        <textarea rows={2} required autofocus aria-label={title} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        {trouble.value && <p class="note trouble" role="alert">{reveal(trouble.value)}</p>}
        <div class="row-of-buttons">
          <button type="submit" class="primary">{button}</button>
        </div>
      </form>
    </Dialog>
  );
}
