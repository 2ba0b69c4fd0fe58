/** The header of a conversation: what it is, its state, and what can be done with it. */
import { useComputed, useSignal, type Signal } from "@preact/signals";
import type { Session } from "../feed/model";
import { Alert } from "../parts/Alert";
import { Tick } from "../parts/Form";
import { Icon } from "../parts/Icons";
import { Later } from "../parts/Later";
import { awayReason, MachineName } from "../parts/MachineName";
import { Menu } from "../parts/Menu";
import { groupOf, isAlarm, isOurs, stateOf } from "../sessions/state";
import { usageInWords } from "../sessions/usage";
import { openSearch } from "../search/searching";
import { now } from "../store/clock";
import { may, openBySession, sessionOf, sessions } from "../store/desk";
import { explainError, post } from "../store/http";
import { pathOf } from "../store/place";
import { basename } from "../text/paths";
import { reveal, revealExactly } from "../text/reveal";
import { dollars } from "../text/times";
import { t } from "../texts";
import { everything } from "./Entry";
import type { DialogName } from "./SessionDialog";

/** Does something with the session; errors are shown in the header. */
type Run = (work: Promise<unknown>) => void;

export function SessionHead({ session }: { session: Session }) {
  const dialog = useSignal<DialogName | null>(null);
  const trouble = useSignal<string | null>(null);
  const run: Run = (work) => {
    trouble.value = null;
    work.catch((error) => (trouble.value = explainError(error)));
  };
  const shown = dialog.value;
  return (
    <header class="session-head">
      <Name session={session} />
      <Actions session={session} dialog={dialog} run={run} />
      {isAlarm(session) && (
        <p class="note trouble alarm" role="alert">
          {t("page.inbox.alarm")}: {reveal(session.ended?.reason ?? "")}
        </p>
      )}
      <Alert text={trouble.value} />
      {shown && (
        <Later quiet load={() => import("./SessionDialog")}>
          {({ SessionDialog }) => <SessionDialog name={shown} session={session} run={run} close={() => (dialog.value = null)} />}
        </Later>
      )}
    </header>
  );
}

function Name({ session }: { session: Session }) {
  const asks = openBySession.value.get(session.id) ?? [];
  const state = useComputed(() => stateOf(session, openBySession.value.get(session.id) ?? [], sessions.value.values(), now.value)).value;
  return (
    <div class="session-name">
      <span class={`dot ${groupOf(session, asks, Date.now()).replace("_", "-")}`} />
      <div>
        <h1>{reveal(session.title)}</h1>
        <p class="session-facts">
          <span class={isAlarm(session) ? "trouble" : undefined}>{state}</span>
          {session.terminal && <span>{t("page.sessions.terminal", { host: session.terminal })}</span>}
          <MachineName of={session} />
          <span title={session.directory}>{basename(session.directory)}</span>
          {session.model && <span class="wide-only">{reveal(session.model)}</span>}
          {session.cost_usd > 0 && <span>{dollars(session.cost_usd)}</span>}
        </p>
        {session.forked_from && <Origin id={session.forked_from} />}
        <Usage session={session} />
      </div>
    </div>
  );
}

/** The account's usage limits, until each starts again. Empty with an API key. */
function Usage({ session }: { session: Session }) {
  const text = useComputed(() => {
    const limits = sessions.value.get(session.id)?.usage ?? [];
    return limits
      .map((limit) => usageInWords(limit, now.value))
      .filter(Boolean)
      .join("\n");
  }).value;
  if (!text) return null;
  return (
    <p class="session-facts session-usage">
      {text.split("\n").map((line) => (
        <span key={line}>{line}</span>
      ))}
    </p>
  );
}

/** The session that this one was forked from. On a line of its own: the facts above change while Claude works. */
function Origin({ id }: { id: string }) {
  const origin = sessionOf(id);
  return (
    <p class="session-facts">
      <span>
        {t("page.chat.forked_from")}{" "}
        <a data-inside href={pathOf({ view: "session", id })}>
          {reveal(origin?.title ?? id)}
        </a>
      </span>
    </p>
  );
}

function Actions({ session, dialog, run }: { session: Session; dialog: Signal<DialogName | null>; run: Run }) {
  const path = `/api/sessions/${encodeURIComponent(session.id)}`;
  const away = awayReason(session);
  return (
    <div class="session-acts">
      {may("approver") && (
        <a data-inside class="quiet-link review-link" href={pathOf({ view: "session", id: session.id, part: "changes" })} title={t("page.review.open_hint")}>
          {t("page.review.open")}
        </a>
      )}
      {isOurs(session) && session.phase === "working" && (
        <button type="button" disabled={!may("approver") || away !== undefined} title={away ?? `${t("page.chat.interrupt")} (i)`} onClick={() => run(post(`${path}/interrupt`))}>
          <Icon name="pause" /> {t("page.chat.interrupt")}
        </button>
      )}
      {session.ended && (
        <button type="button" class="primary" disabled={!may("admin")} onClick={() => run(post(`${path}/resume`))}>
          {t("page.chat.resume")}
        </button>
      )}
      <button type="button" class="quiet square" aria-label={t("page.search.in_chat")} title={`${t("page.search.in_chat")} (f)`} onClick={() => openSearch()}>
        <Icon name="search" />
      </button>
      <Menu label={t("page.chat.menu.label")} icon="more">
        {(close) => (
          <MenuItems
            session={session}
            choose={(name) => {
              close();
              dialog.value = name;
            }}
          />
        )}
      </Menu>
    </div>
  );
}

type MenuName = "fork" | "rename" | "stop" | "mute";

function MenuItems({ session, choose }: { session: Session; choose: (name: MenuName) => void }) {
  const item = (name: MenuName, role: "approver" | "admin" | "viewer", tag = "quiet") => (
    <button type="button" class={tag} disabled={role !== "viewer" && !may(role)} onClick={() => choose(name)}>
      {t(`page.chat.menu.${name}`)}
    </button>
  );
  return (
    <>
      {isOurs(session) && item("rename", "approver")}
      {isOurs(session) && item("fork", "admin")}
      {!session.ended && item("mute", "viewer")}
      {isOurs(session) && !session.ended && item("stop", "admin", "quiet danger")}
      <Tick checked={everything.value} change={(checked) => (everything.value = checked)}>
        {t("page.chat.menu.unrecognized")}
      </Tick>
      <p class="quiet-text mono">{revealExactly(session.directory)}</p>
      <p class="quiet-text mono">{session.id}</p>
    </>
  );
}
