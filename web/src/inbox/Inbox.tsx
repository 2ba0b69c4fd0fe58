/** Everything that needs a person, from all sessions: oldest first, one open, the others one line each. */
import { computed } from "@preact/signals";
import { Card } from "../cards/Card";
import { Select } from "../parts/Form";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { askOf, justSettled, missedAsks, openAsks, ready, sessions } from "../store/desk";
import { heldAsk, withHeld } from "../store/held";
import { byName, inboxMachine, isInInbox, machines, several } from "../store/machines";
import { chosen, current, inboxAsks, pathOf, place } from "../store/place";
import { connection, withoutHub } from "../store/stream";
import { batch, forgetBatch, type BatchOutcome } from "../store/together";
import { isAlarm, stateOf } from "../sessions/state";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { AskList } from "./AskList";
import { FirstSession, Hints } from "./Welcome";

const working = computed(() => [...sessions.value.values()].filter((session) => session.phase === "working" && !session.ended).length);

export function Inbox() {
  const asks = inboxAsks.value;
  const stays = heldAsk();
  const missed = missedAsks.value.filter((ask) => isInInbox(ask) && ask !== stays);
  return (
    <main class="inbox scrolls" tabIndex={-1}>
      <div class="measure">
        <header class="inbox-head">
          <h1>{t("page.inbox.title")}</h1>
          {asks.length > 0 && <p class="needs-text">{t("page.inbox.waiting", { count: asks.length })}</p>}
          <MachineFilter />
        </header>
        <Alarms />
        <AskList asks={withHeld(asks)} open={stays?.id ?? current.value} />
        <Dialogs />
        {asks.length === 0 && !stays && openAsks.value.length > 0 && <NothingThere />}
        {openAsks.value.length === 0 && !stays && !dialogs.value.length && <Nothing />}
        <JustNow />
        {ready.value && openAsks.value.length === 0 && <Hints />}
        {missed.length > 0 && (
          <section class="over">
            <h2>{t("page.inbox.missed")}</h2>
            {missed.map((ask) => (
              <Card key={ask.id} ask={ask} where="inbox" />
            ))}
          </section>
        )}
      </div>
    </main>
  );
}

/** Whose requests to show, if there are several machines. */
function MachineFilter() {
  if (!several.value) return null;
  const options = [["", t("page.machine.all")], ...byName.value.map((each) => [each.id, reveal(each.name)] as const)] as const;
  return <Select class="machine-filter" aria-label={t("page.machine.label")} value={inboxMachine.value} change={(value) => (inboxMachine.value = value)} options={options} />;
}

/** The filter hides everything that waits. */
function NothingThere() {
  const name = reveal(machines.value.get(inboxMachine.value)?.name ?? "");
  return (
    <p class="empty">
      <Quoted text={t("page.machine.nothing", { name })} />{" "}
      <button type="button" class="more" onClick={() => (inboxMachine.value = "")}>
        {t("page.machine.show_all")}
      </button>
    </p>
  );
}

const alarms = computed(() => [...sessions.value.values()].filter(isAlarm).sort((a, b) => (a.changed_at > b.changed_at ? -1 : 1)));

/** Sessions that were stopped because something bypassed Handraise: at the top, until they are resumed. */
export function Alarms() {
  return (
    <>
      {alarms.value.map((session) => (
        <section key={session.id} class="failure alarm" role="alert">
          <strong>
            {t("page.inbox.alarm")}:{" "}
            <a data-inside href={pathOf({ view: "session", id: session.id })}>
              {reveal(session.title)}
            </a>
          </strong>
          <p>{reveal(session.ended?.reason ?? "")}</p>
          <p>{t("page.inbox.alarm_hint")}</p>
        </section>
      ))}
    </>
  );
}

const dialogs = computed(() => [...sessions.value.values()].filter((session) => session.dialog).sort((a, b) => (a.changed_at < b.changed_at ? -1 : 1)));

/** What waits in terminals and can be answered only there. */
function Dialogs() {
  return (
    <>
      {dialogs.value.map((session) => (
        <section key={session.id} class="note elsewhere" role="status">
          <strong>{reveal(session.dialog)}</strong>{" "}
          <a data-inside href={pathOf({ view: "session", id: session.id })}>
            {reveal(session.title)}
          </a>
        </section>
      ))}
    </>
  );
}

/** The outcomes of the asks that were here, and who answered them. */
function JustNow() {
  const asks = justSettled.value.map(askOf).filter((ask) => ask !== undefined && !missedAsks.value.includes(ask));
  if (!asks.length && !batch.value) return null;
  return (
    <section class="over" aria-label={t("page.inbox.just_now")}>
      <h2>{t("page.inbox.just_now")}</h2>
      <BatchNote />
      {asks.map((ask) => ask && <Card key={ask.id} ask={ask} where="inbox" />)}
    </section>
  );
}

/** The outcome of an answer to several asks. */
function BatchNote() {
  if (!batch.value) return null;
  return (
    <p class={batch.value.accepted === batch.value.total ? "note" : "note trouble"} role="status">
      {sentenceOf(batch.value)}{" "}
      <button type="button" class="quiet" aria-label={t("page.close")} onClick={forgetBatch}>
        <Icon name="close" />
      </button>
    </p>
  );
}

function sentenceOf({ total, accepted, queued }: BatchOutcome): string {
  const unused = total - accepted - queued;
  const sentences = [t("page.inbox.batch.used", { used: accepted, total })];
  if (queued) sentences.push(t("page.inbox.batch.unsent", { count: queued }));
  if (unused) sentences.push(t("page.inbox.batch.unused", { count: unused }));
  return sentences.join(" ");
}

/** Next to a conversation: what is waiting elsewhere. The conversation's own cards are inside it. */
export function Drawer() {
  const here = place.value.view === "session" ? place.value.id : null;
  const elsewhere = openAsks.value.filter((ask) => ask.session !== here);
  const first = elsewhere.find((ask) => ask.id === chosen.value) ?? elsewhere[0];
  return (
    <aside class="drawer scrolls" aria-label={t("page.inbox.title")}>
      <header class="inbox-head">
        <h2>
          <a data-inside href="/">
            {t("page.inbox.title")}
          </a>
        </h2>
        <p class="needs-text">{t("page.inbox.waiting", { count: elsewhere.length })}</p>
      </header>
      <BatchNote />
      <AskList asks={withHeld(elsewhere).filter((ask) => ask.session !== here)} open={heldAsk()?.id ?? first?.id ?? null} />
    </aside>
  );
}

/** Shown as empty only once that is known. */
function Nothing() {
  const state = connection.value.state;
  if (state === "offline") return <p class="empty">{ready.value ? t("page.inbox.unknown") : withoutHub()}</p>;
  if (!ready.value || state === "connecting") return <p class="empty">{t("page.loading")}</p>;
  if (state !== "live") return <p class="empty">{t("page.inbox.unknown")}</p>;
  const alive = [...sessions.value.values()].filter((session) => !session.ended).sort((a, b) => (a.changed_at > b.changed_at ? -1 : 1));
  return (
    <div class="nothing">
      <span class="big-icon">
        <Icon name="check" />
      </span>
      <p class="nothing-title">{t("page.inbox.empty")}</p>
      {sessions.value.size === 0 ? <FirstSession /> : <p class="quiet-text">{working.value ? t("page.inbox.working", { count: working.value }) : t("page.inbox.none_working")}</p>}
      {alive.length > 0 && (
        <ul>
          {alive.slice(0, 5).map((session) => (
            <li key={session.id}>
              <a data-inside href={pathOf({ view: "session", id: session.id })}>
                {reveal(session.title)}
              </a>{" "}
              <span class="quiet-text">{stateOf(session, [], sessions.value.values(), Date.now())}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
