/** The sessions: what needs somebody on top, with the question itself as the row's text. */
import { computed, signal } from "@preact/signals";
import { sentence } from "../cards/sentence";
import { basename } from "../cards/Card";
import type { Session } from "../feed/model";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { dollars, now, span } from "../store/clock";
import { lastLines, openBySession, ready, sessions } from "../store/desk";
import { pathOf, place } from "../store/place";
import { connection } from "../store/stream";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { GROUPS, groupOf, stateOf, type Group } from "./state";

type Order = "recent" | "cost" | "age";

export const search = signal("");
const directory = signal("");
const order = signal<Order>("recent");
const showEnded = signal(false);
const ENDED = 8;

const grouped = computed(() => {
  const wanted = search.value.trim().toLowerCase();
  const found = new Map<Group, Session[]>(GROUPS.map((group) => [group, []]));
  for (const session of sessions.value.values()) {
    if (directory.value && session.directory !== directory.value) continue;
    if (wanted && !`${session.title} ${session.directory} ${session.id}`.toLowerCase().includes(wanted)) continue;
    found.get(groupOf(session, openBySession.value.get(session.id) ?? []))?.push(session);
  }
  for (const list of found.values()) list.sort(compare);
  return found;
});

export function SessionsList() {
  const places = [...new Set([...sessions.value.values()].map((session) => session.directory))].sort();
  const shown = [...grouped.value].filter(([, list]) => list.length);
  return (
    <nav class="sessions scrolls" aria-label={t.sessions.title}>
      <div class="search">
        <Icon name="search" />
        <input id="search" type="search" placeholder={t.sessions.search} aria-label={t.sessions.search} value={search.value} onInput={(event) => (search.value = event.currentTarget.value)} />
      </div>
      {(places.length > 1 || sessions.value.size > 6) && (
        <div class="filters">
          <select aria-label={t.start.project} value={directory.value} onChange={(event) => (directory.value = event.currentTarget.value)}>
            <option value="">{t.sessions.all}</option>
            {places.map((each) => (
              <option key={each} value={each}>
                {basename(each)}
              </option>
            ))}
          </select>
          <select aria-label={t.sessions.sort.label} value={order.value} onChange={(event) => (order.value = event.currentTarget.value as Order)}>
            {(["recent", "cost", "age"] as const).map((each) => (
              <option key={each} value={each}>
                {t.sessions.sort[each]}
              </option>
            ))}
          </select>
        </div>
      )}
      {shown.map(([group, list]) => (
        <Section key={group} group={group} list={list} />
      ))}
      {!shown.length && <p class="empty">{!ready.value ? t.loading : sessions.value.size ? t.sessions.noMatch : t.sessions.none}</p>}
    </nav>
  );
}

function Section({ group, list }: { group: Group; list: Session[] }) {
  const clipped = group === "ended" && !showEnded.value && list.length > ENDED ? list.slice(0, ENDED) : list;
  return (
    <section class={`group ${group.replace(" ", "-")}`}>
      <h2>
        {t.sessions.groups[group]} <span class="quiet-text">{list.length}</span>
      </h2>
      <ul>
        {clipped.map((session) => (
          <Row key={session.id} session={session} group={group} />
        ))}
      </ul>
      {clipped.length < list.length && (
        <button type="button" class="more" onClick={() => (showEnded.value = true)}>
          {t.showAll}
        </button>
      )}
    </section>
  );
}

function Row({ session, group }: { session: Session; group: Group }) {
  const here = place.value.view === "session" && place.value.id === session.id;
  const asks = openBySession.value.get(session.id) ?? [];
  const first = asks[0];
  const away = connection.value.state === "offline" && !session.ended;
  const state = away ? t.sessions.reconnecting : stateOf(session, asks, sessions.value.values(), now.value);
  return (
    <li>
      <a data-inside href={pathOf({ view: "session", id: session.id })} class="session" aria-current={here ? "page" : undefined}>
        <span class={`dot ${group.replace(" ", "-")}`} />
        <span class="session-text">
          <span class="session-title">{reveal(session.title)}</span>
          <span class={first ? "session-line asks" : "session-line"}>{first ? <Quoted text={sentence(first, session.directory)} /> : (second(session) ?? basename(session.directory))}</span>
          <span class="session-facts">
            <span>{state}</span>
            <span>{basename(session.directory)}</span>
            <span>{span(now.value - Date.parse(session.changed_at))}</span>
            {session.cost_usd > 0 && <span>{dollars(session.cost_usd)}</span>}
            {session.mode === "bypassPermissions" && !session.ended && <span class="bypass-mark">bypass</span>}
          </span>
        </span>
        {asks.length > 1 && <span class="badge">{asks.length}</span>}
      </a>
    </li>
  );
}

function second(session: Session): string | null {
  if (session.ended && session.ended.how !== "finished") return reveal(session.ended.reason) || null;
  const line = lastLines.value.get(session.id);
  return line ? reveal(line) : null;
}

function compare(a: Session, b: Session): number {
  if (order.value === "cost") return b.cost_usd - a.cost_usd;
  if (order.value === "age") return a.created_at < b.created_at ? -1 : 1;
  return a.changed_at > b.changed_at ? -1 : 1;
}
