/** What every page shows: the connection, sessions that never ask, answers that were not used, and announcements for screen readers. */
import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Ask } from "./feed/model";
import { Icon } from "./parts/Icons";
import { Quoted } from "./parts/Quoted";
import { now } from "./store/clock";
import { askOf, known, me, openAsks, ready, sessionOf, sessions } from "./store/desk";
import { failure } from "./store/failures";
import { pathOf, place } from "./store/place";
import { dismiss, sending } from "./store/sending";
import { connection, tryNow } from "./store/stream";
import { neverAsks } from "./sessions/state";
import { reveal } from "./text/reveal";
import { span } from "./text/times";
import { t } from "./texts";

/** The connection to the hub. As a strip it shows only while something is wrong. */
export function ConnectionSign({ strip = false }: { strip?: boolean }) {
  const at = connection.value;
  if (strip && (at.state === "live" || at.state === "connecting")) return <span class={`connection ${at.state} unseen`}>{at.state === "live" ? t("page.connection.live") : ""}</span>;
  const text = at.state === "offline" ? t("page.connection.offline", { duration: span(now.value - at.since) }) : t(`page.connection.${at.state}`);
  return (
    <span class={`connection ${at.state.replace("_", "-")}${strip ? " strip" : ""}`}>
      <span class="dot" />
      <span class="connection-text">{text}</span>
      {at.state === "offline" && (
        <button type="button" class="quiet" onClick={tryNow}>
          {t("page.connection.retry")}
        </button>
      )}
    </span>
  );
}

const bypassing = computed(() => [...sessions.value.values()].filter(neverAsks));

/** Red, and on every page, while a session does everything without asking. */
export function NeverAsks() {
  const [first, ...others] = bypassing.value;
  const here = place.value;
  // Its own page has a red frame, and says so once.
  if (!first || (!others.length && here.view === "session" && here.id === first.id)) return null;
  return (
    <a data-inside class="never-asks" href={others.length ? "/sessions" : pathOf({ view: "session", id: first.id })}>
      <Icon name="warning" />
      <span>{t("page.sessions.bypassing", { count: bypassing.value.length })}</span>
    </a>
  );
}

/** On every page, while the hub can't keep Claude away from its own files. */
export function NoSandbox() {
  const why = me.value?.no_sandbox;
  if (!why) return null;
  return (
    <p class="never-asks" title={reveal(why)}>
      <Icon name="warning" />
      <span>{t("page.sessions.no_sandbox")}</span>
    </p>
  );
}

/** On every page, while commands can run without permission in this version of Claude Code. */
export function UnsafeClaude() {
  const version = me.value?.unsafe_claude;
  if (!version) return null;
  return (
    <p class="never-asks">
      <Icon name="warning" />
      <span>{t("page.sessions.unsafe_claude", { version: reveal(version) })}</span>
    </p>
  );
}

/** On every page, while the hub can't work as usual. */
export function HubTrouble() {
  const trouble = me.value?.hub_trouble;
  if (!trouble) return null;
  return (
    <p class="never-asks" role="alert">
      <Icon name="warning" />
      <span>
        <Quoted text={reveal(trouble)} />
      </span>
    </p>
  );
}

/** On every page, while the Telegram bot doesn't work. */
export function TelegramTrouble() {
  const trouble = me.value?.telegram_trouble;
  if (!trouble) return null;
  return (
    <p class="never-asks">
      <Icon name="warning" />
      <span>
        <Quoted text={reveal(t("page.sessions.telegram_trouble", { trouble }))} />
      </span>
    </p>
  );
}

/** On every page, until someone looks at it: a notification did not arrive. */
export function FailedNotification() {
  const failed = failure.value;
  if (!failed) return null;
  return (
    <div role="alert">
      <a data-inside class="never-asks" href="/admin/notifications">
        <Icon name="warning" />
        <span>{t("page.notification_failed", { channel: reveal(failed.channel) })}</span>
      </a>
    </div>
  );
}

const unused = computed(() => {
  const here = place.value;
  return [...sending.value].flatMap(([id, each]) => {
    const ask = known.value.asks.get(id);
    // If its card is on the screen, the card says so.
    const shown = here.view === "inbox" || (here.view === "session" && ask?.session === here.id);
    return each.state === "refused" && !shown ? [{ id, message: each.message }] : [];
  });
});

/** An answer that was not used, shown on every page. */
export function NotUsed() {
  if (!unused.value.length) return null;
  return (
    <div class="toasts" role="alert">
      {unused.value.map(({ id, message }) => {
        const ask = askOf(id);
        return (
          <div key={id} class="toast">
            <p>
              {ask && (
                <strong>
                  <Quoted text={ask.card.headline} />
                </strong>
              )}
              <span>{reveal(message)}</span>
            </p>
            <button type="button" class="quiet square" aria-label={t("page.close")} onClick={() => dismiss(id)}>
              <Icon name="close" />
            </button>
          </div>
        );
      })}
    </div>
  );
}

const words = signal("");

/** Announces new asks to screen readers. */
export function Announcer() {
  const heard = useRef<Set<string> | null>(null);
  const asks = openAsks.value;
  const isReady = ready.value;
  const state = connection.value.state;
  useEffect(() => {
    // As they were when this was drawn: by the time an effect runs, there may be more.
    if (!isReady) return;
    const before = heard.current;
    heard.current = new Set(asks.map((ask) => ask.id));
    const fresh = before ? asks.filter((ask) => !before.has(ask.id)) : [];
    if (fresh.length) words.value = fresh.map(announcementOf).join(" ");
  }, [asks, isReady]);
  return (
    <>
      <p class="unseen" role="status" aria-live="polite">
        {words.value.replaceAll("`", "")}
      </p>
      <p class="unseen" role="status">
        {state === "offline" ? t("page.connection.lost") : ""}
      </p>
    </>
  );
}

function announcementOf(ask: Ask): string {
  const title = reveal(sessionOf(ask.session)?.title ?? t("page.card.external_agent"));
  return t("page.card.announcement", { question: ask.card.headline, title });
}
