/** Everything that waits for a person, from all sessions: oldest first, one open, the others a line each. */
import { computed } from "@preact/signals";
import { Card } from "../cards/Card";
import { sentence } from "../cards/sentence";
import type { Ask } from "../feed/model";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { countdown, now, span } from "../store/clock";
import { missedAsks, openAsks, ready, sessions } from "../store/desk";
import { chosen, current, pathOf, place } from "../store/place";
import { connection } from "../store/stream";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";

const working = computed(() => [...sessions.value.values()].filter((session) => session.phase === "working" && !session.ended).length);

export function Inbox() {
  const asks = openAsks.value;
  const missed = missedAsks.value;
  return (
    <main class="inbox scrolls" tabIndex={-1}>
      <div class="measure">
        <header class="inbox-head">
          <h1>{t.inbox.title}</h1>
          {asks.length > 0 && (
            <p class="needs-text" role="status">
              {t.inbox.waiting(asks.length)}
            </p>
          )}
        </header>
        {asks.map((ask) => (ask.id === current.value ? <Card key={ask.id} ask={ask} where="inbox" /> : <Waiting key={ask.id} ask={ask} />))}
        {asks.length === 0 && <Nothing />}
        {missed.length > 0 && (
          <section class="missed">
            <h2>{t.inbox.missed}</h2>
            {missed.map((ask) => (
              <Card key={ask.id} ask={ask} where="inbox" />
            ))}
          </section>
        )}
      </div>
    </main>
  );
}

/** Beside a conversation: what waits elsewhere. The conversation's own cards are where they arose. */
export function Drawer() {
  const here = place.value.view === "session" ? place.value.id : null;
  const elsewhere = openAsks.value.filter((ask) => ask.session !== here);
  const first = elsewhere.find((ask) => ask.id === chosen.value) ?? elsewhere[0];
  return (
    <aside class="drawer scrolls" aria-label={t.inbox.title}>
      <header class="inbox-head">
        <h2>
          <a data-inside href="/">
            {t.inbox.title}
          </a>
        </h2>
        <p class="needs-text">{t.inbox.waiting(elsewhere.length)}</p>
      </header>
      {elsewhere.map((ask) => (ask === first ? <Card key={ask.id} ask={ask} where="inbox" /> : <Waiting key={ask.id} ask={ask} />))}
    </aside>
  );
}

function Waiting({ ask }: { ask: Ask }) {
  const session = ask.session === null ? undefined : sessions.value.get(ask.session);
  const left = ask.expires_at === null ? null : Date.parse(ask.expires_at) - now.value;
  return (
    <button type="button" class="waiting-row" onClick={() => (chosen.value = ask.id)}>
      <Icon name={ask.kind} />
      <span class="waiting-text">
        <span class="waiting-question">
          <Quoted text={sentence(ask, session?.directory ?? null)} />
        </span>
        <span class="quiet-text">
          {session ? reveal(session.title) : t.card.outside} · {span(now.value - Date.parse(ask.opened_at))}
        </span>
      </span>
      {left !== null && <span class={left < 60_000 ? "left soon" : "left"}>{countdown(left)}</span>}
    </button>
  );
}

/** Empty is said only when it is known. */
function Nothing() {
  const state = connection.value.state;
  if (!ready.value || state === "connecting") return <p class="empty">{t.loading}</p>;
  if (state !== "live") return <p class="empty">{t.inbox.unknown}</p>;
  const latest = [...sessions.value.values()].filter((session) => !session.ended).sort((a, b) => (a.changed_at > b.changed_at ? -1 : 1));
  return (
    <div class="nothing">
      <span class="big-icon">
        <Icon name="check" />
      </span>
      <p class="nothing-title">{t.inbox.empty}</p>
      <p class="quiet-text">{t.inbox.working(working.value)}</p>
      <ul>
        {latest.slice(0, 5).map((session) => (
          <li key={session.id}>
            <a data-inside href={pathOf({ view: "session", id: session.id })}>
              {reveal(session.title)}
            </a>{" "}
            <span class="quiet-text">{session.phase}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
