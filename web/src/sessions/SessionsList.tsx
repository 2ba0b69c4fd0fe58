/** The sessions: those that need a person first, with the question itself as the row's text. */
import { computed, signal, useComputed } from "@preact/signals";
import type { Ask, Session } from "../feed/model";
import { DangerMark } from "../parts/DangerMark";
import { MachineName } from "../parts/MachineName";
import { memo } from "../parts/memo";
import { Quoted } from "../parts/Quoted";
import { now } from "../store/clock";
import { lastLines, openBySession, ready, sessions } from "../store/desk";
import { awayOf } from "../store/machines";
import { afterwards } from "../store/painting";
import { pathOf, place } from "../store/place";
import { connection, withoutHub } from "../store/stream";
import { basename } from "../text/paths";
import { reveal } from "../text/reveal";
import { dollars, span } from "../text/times";
import { t, textOr } from "../texts";
import { Filter, filters } from "./Filter";
import { compare, fits } from "./filters";
import { GROUPS, groupOf, isFailed, neverAsks, stateOf, type SessionGroup } from "./state";

const showEnded = signal(false);
const ENDED = 8;
const NONE: readonly Ask[] = [];

/** What the list is made of. A row moves when its session asks, and with it the whole list: the card comes first. */
const known = afterwards(computed(() => ({ sessions: sessions.value, asks: openBySession.value })));

/** Changes once a minute: enough to tell old from new. */
const minute = computed(() => Math.floor(now.value / 60_000) * 60_000);

const grouped = computed(() => {
  const found = new Map<SessionGroup, Session[]>(GROUPS.map((group) => [group, []]));
  for (const session of known.value.sessions.values()) {
    const asks = known.value.asks.get(session.id) ?? NONE;
    const says = asks.map((ask) => ask.card.headline).join(" ");
    if (fits(session, filters.value, says, minute.value)) found.get(groupOf(session, asks, minute.value))?.push(session);
  }
  for (const list of found.values()) list.sort((a, b) => compare(a, b, filters.value.order));
  // What has waited longest comes first, as in the inbox.
  if (filters.value.order === "recent") found.get("needs_you")?.sort((a, b) => (since(a) < since(b) ? -1 : 1));
  return found;
});

/** All sessions of the list, from top to bottom. */
export const listed = computed(() => [...grouped.value.values()].flat());

function since(session: Session): string {
  return known.value.asks.get(session.id)?.[0]?.opened_at ?? session.changed_at;
}

export function SessionsList() {
  const shown = [...grouped.value].filter(([, list]) => list.length);
  return (
    <nav class="sessions scrolls" aria-label={t("page.sessions.title")}>
      <Filter />
      {shown.map(([group, list]) => (
        <Section key={group} group={group} list={list} />
      ))}
      {!shown.length && (
        <p class="empty">{!ready.value ? (connection.value.state === "offline" ? withoutHub() : t("page.loading")) : sessions.value.size ? t("page.sessions.no_match") : t("page.sessions.none")}</p>
      )}
    </nav>
  );
}

function Section({ group, list }: { group: SessionGroup; list: Session[] }) {
  const clipped = group === "ended" && !showEnded.value && list.length > ENDED ? list.slice(0, ENDED) : list;
  return (
    <section class={`group ${group.replace("_", "-")}`}>
      <h2>
        {t(`page.sessions.group.${group}`)} <span class="quiet-text">{list.length}</span>
      </h2>
      <ul>
        {clipped.map((session) => (
          <SessionRow key={session.id} session={session} group={group} asks={known.value.asks.get(session.id) ?? NONE} />
        ))}
      </ul>
      {clipped.length < list.length && (
        <button type="button" class="more" onClick={() => (showEnded.value = true)}>
          {t("page.show_all")}
        </button>
      )}
    </section>
  );
}

const SessionRow = memo(({ session, group, asks }: { session: Session; group: SessionGroup; asks: readonly Ask[] }) => {
  const here = useComputed(() => place.value.view === "session" && place.value.id === session.id).value;
  const age = useComputed(() => span(now.value - Date.parse(session.changed_at)));
  const state = useComputed(() => special(session, group, asks)).value;
  const first = asks[0];
  return (
    <li>
      <a data-inside href={pathOf({ view: "session", id: session.id })} class="session" aria-current={here ? "page" : undefined}>
        <span class={`dot ${group.replace("_", "-")}`} />
        <span class="session-text">
          <span class="session-top">
            <span class="session-title">{reveal(session.title)}</span>
            {asks.length > 1 && <span class="badge">{asks.length}</span>}
            <span class="session-age">{age}</span>
          </span>
          {first ? (
            <span class="session-line asks">
              <DangerMark ask={first} />
              <Quoted text={first.card.headline} />
            </span>
          ) : session.dialog ? (
            <span class="session-line asks">{reveal(session.dialog)}</span>
          ) : (
            <Second session={session} />
          )}
          <span class="session-facts">
            {neverAsks(session) && <span class="bypass-mark">{t("page.sessions.bypass")}</span>}
            {state && <span>{state}</span>}
            {session.terminal && <span>{t("page.sessions.terminal", { host: session.terminal })}</span>}
            <MachineName of={session} />
            <span>{basename(session.directory)}</span>
            {session.cost_usd > 0 && <span>{dollars(session.cost_usd)}</span>}
          </span>
        </span>
      </a>
    </li>
  );
});

/** The state, if the group's name doesn't say it. */
function special(session: Session, group: SessionGroup, asks: readonly Ask[]): string {
  if (connection.value.state === "offline" && !session.ended) return t("page.sessions.reconnecting");
  // What it does there is not known.
  if (awayOf(session) && !session.ended && !asks.length) return "";
  const state = stateOf(session, asks, sessions.value.values(), now.value);
  if (session.ended) return group === "ended" && session.ended.how === "finished" ? "" : state;
  return state === textOr(`card.session.state.${group}`, "") ? "" : state;
}

/** What it did last, or why it ended. */
function Second({ session }: { session: Session }) {
  const line = useComputed(() => lastLines.value.get(session.id)).value;
  const text = isFailed(session) ? session.ended?.reason : line;
  return text ? <span class="session-line">{reveal(text)}</span> : null;
}
