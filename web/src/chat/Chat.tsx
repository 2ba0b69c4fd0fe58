/** A conversation: history above, what is being written below, and nothing moves what is being read. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/Icons";
import { Later } from "../parts/Later";
import { AwayNote, awayReason } from "../parts/MachineName";
import { Markdown } from "../parts/Markdown";
import type { Preview, Session } from "../feed/model";
import { may, openBySession, ready, removed, type RemovedSession, sessionOf } from "../store/desk";
import { post } from "../store/http";
import { awayOf } from "../store/machines";
import { go, place } from "../store/place";
import { connection, withoutHub } from "../store/stream";
import { conversation, loadOlder, type Conversation } from "../store/timelines";
import { isOurs, neverAsks } from "../sessions/state";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { Composer } from "./Composer";
import { Block, Thought } from "./Entry";
import { useJump } from "./jumping";
import { useReading } from "./scrolling";
import { SessionHead } from "./SessionHead";
import { useWatching } from "./watching";

/** How many blocks at the end are drawn immediately: about a screen. */
const SOON = 2;

export function Chat({ id }: { id: string }) {
  const session = sessionOf(id);
  const gone = removed.value.get(id);
  if (gone) return <Removed {...gone} />;
  if (!session)
    return (
      <main class="chat" tabIndex={-1}>
        <h1 class="unseen">{t("page.nav.chat")}</h1>
        <p class="empty">{ready.value ? t("page.chat.no_session") : connection.value.state === "offline" ? withoutHub() : t("page.loading")}</p>
      </main>
    );
  return <OpenChat key={id} session={session} />;
}

/** In place of a conversation that was removed while it was open. */
function Removed({ title, by }: RemovedSession) {
  const who = by?.kind === "person" ? t("page.removed.by", { who: reveal(by.name) }) : "";
  return (
    <main class="chat" tabIndex={-1}>
      <div class="nothing" role="status">
        <span class="big-icon">
          <Icon name="close" />
        </span>
        <h1 class="nothing-title">{t("page.removed.title")}</h1>
        <p class="quiet-text">{[reveal(title), who].filter(Boolean).join(" · ")}</p>
        <button type="button" onClick={() => go("/sessions")}>
          {t("page.removed.back")}
        </button>
      </div>
    </main>
  );
}

function OpenChat({ session }: { session: Session }) {
  const talk = conversation(session.id);
  useWatching(session.id);
  const bypass = neverAsks(session);
  const here = place.value;
  return (
    <main class={bypass ? "chat bypass" : "chat"} tabIndex={-1}>
      <SessionHead session={session} />
      <AwayNote of={session} about="session" />
      {bypass && (
        <div class="bypass-sign" role="note">
          <Icon name="warning" />
          <strong>{t("page.chat.bypass")}</strong>
          <button
            type="button"
            disabled={!may("admin") || awayReason(session) !== undefined}
            title={awayReason(session)}
            onClick={() => void post(`/api/sessions/${encodeURIComponent(session.id)}/mode`, { mode: "default" }).catch(() => undefined)}
          >
            {t("page.chat.bypass_leave")}
          </button>
        </div>
      )}
      {here.view === "session" && here.part === "changes" ? (
        <Later load={() => import("../review/Review")}>{({ Review }) => <Review session={session} />}</Later>
      ) : (
        <Scroller session={session} talk={talk} />
      )}
      {isOurs(session) ? <Composer session={session} waiting={talk.waiting.value} /> : <Elsewhere session={session} />}
    </main>
  );
}

/** In place of the composer: where a person runs it, and what waits only there. */
function Elsewhere({ session }: { session: Session }) {
  if (session.dialog)
    return (
      <p class="composer needs-text" role="status">
        {reveal(session.dialog)}
      </p>
    );
  return <p class="composer quiet-text">{t("page.chat.terminal", { host: session.terminal })}</p>;
}

function Scroller({ session, talk }: { session: Session; talk: Conversation }) {
  const frame = useRef<HTMLDivElement>(null);
  const news = useSignal(0);
  const reading = useReading(() => talk.older.peek() === "more" && void loadOlder(session.id), frame);
  const blocks = talk.blocks.value;
  const first = blocks[0]?.[0]?.key;
  const away = reading.away.value;

  useJump(session.id, talk, reading, frame);
  // History was inserted above what is being read: keep its position before anything is painted.
  useLayoutEffect(() => reading.settle(), [first]);
  useCountNews(talk, () => (news.value = reading.atEnd ? 0 : news.peek() + 1));

  const asks = openBySession.value.get(session.id)?.length ?? 0;
  const isAway = awayOf(session) !== undefined;
  const scrolled = () => {
    reading.moved();
    if (reading.atEnd) news.value = 0;
  };
  return (
    <div class="scroller">
      <div class="scrolls history" ref={frame} tabIndex={0} role="log" aria-label={reveal(session.title)} onScroll={scrolled}>
        <div class="measure">
          <Beginning talk={talk} />
          {blocks.map((entries, at) => (
            <Block key={entries[0]?.key} entries={entries} late={at < blocks.length - SOON} />
          ))}
          <Previews talk={talk} />
          {session.phase === "working" && !isAway && !asks && !session.dialog && !talk.previews.value.length && <p class="event working">{t("page.chat.working")}</p>}
          {session.phase === "queued" && !isAway && session.open_asks === 0 && <p class="event">{t("page.chat.queued")}</p>}
        </div>
      </div>
      {away && <JumpPill asks={asks} news={news.value} jump={() => reading.toEnd()} />}
    </div>
  );
}

/** The button to the end, and what is there. */
function JumpPill({ asks, news, jump }: { asks: number; news: number; jump: () => void }) {
  return (
    <div class="jump">
      <button type="button" class={asks ? "pill needs" : "pill"} onClick={jump}>
        {asks ? t("page.chat.needs_you") : news ? t("page.chat.new", { count: news }) : t("page.chat.jump")} <Icon name="down" />
      </button>
    </div>
  );
}

/** What is above the first entry: whether there is more, or why nothing is here yet. */
function Beginning({ talk }: { talk: Conversation }) {
  const state = talk.state.value;
  const size = talk.blocks.value.length;
  return (
    <>
      {talk.older.value === "loading" && <p class="event">{t("page.chat.loading_earlier")}</p>}
      {talk.older.value === "none" && state === "loaded" && size > 8 && <p class="event">{t("page.chat.beginning")}</p>}
      {state === "loading" && !size && <Skeleton />}
      {state === "failed" && <p class="event error">{t("page.chat.load_failed")}</p>}
    </>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label={t("page.loading")}>
      <span />
      <span />
      <span />
    </div>
  );
}

function Previews({ talk }: { talk: Conversation }) {
  return (
    <>
      {talk.previews.value.map((preview: Preview) => (
        <div key={`${preview.message}/${preview.index}`} class={preview.parent ? "streaming nested" : "streaming"}>
          {preview.kind === "thinking" ? <Thought text={preview.text} /> : <Markdown text={preview.text} />}
        </div>
      ))}
    </>
  );
}

/** Calls back when an entry was added at the end. */
function useCountNews(talk: Conversation, added: () => void): void {
  const last = useRef<number | undefined>(undefined);
  useSignalEffect(() => {
    const key = talk.blocks.value.at(-1)?.at(-1)?.key;
    if (last.current !== undefined && key !== undefined && key !== last.current) added();
    last.current = key;
  });
}
