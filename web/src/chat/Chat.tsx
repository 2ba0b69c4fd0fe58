/** A conversation: history above, what is being written below, and nothing moves what somebody is reading. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/Icons";
import { Markdown } from "../parts/Markdown";
import type { Preview, Session } from "../feed/model";
import { may, openBySession, ready, sessions } from "../store/desk";
import { post } from "../store/http";
import { conversation, loadOlder, type Conversation } from "../store/timelines";
import { texts as t } from "../texts";
import { Composer } from "./Composer";
import { Block, Thought } from "./Entry";
import { SessionHead } from "./SessionHead";

const NEAR = 80;
const EARLY = 1200;

export function Chat({ id }: { id: string }) {
  const session = sessions.value.get(id);
  if (!session) return <main class="chat"><p class="empty">{ready.value ? t.chat.gone : t.loading}</p></main>;
  return <Open key={id} session={session} />;
}

function Open({ session }: { session: Session }) {
  const talk = conversation(session.id);
  const bypass = session.mode === "bypassPermissions" && !session.ended;
  return (
    <main class={bypass ? "chat bypass" : "chat"} tabIndex={-1}>
      <SessionHead session={session} />
      {bypass && (
        <div class="bypass-sign" role="note">
          <strong>{t.chat.bypass}</strong>
          <button type="button" disabled={!may("admin")} onClick={() => void post(`/api/sessions/${encodeURIComponent(session.id)}/mode`, { mode: "default" }).catch(() => undefined)}>
            {t.chat.bypassLeave}
          </button>
        </div>
      )}
      <Scroller session={session} talk={talk} />
      <Composer session={session} waiting={talk.waiting.value} />
    </main>
  );
}

function Scroller({ session, talk }: { session: Session; talk: Conversation }) {
  const frame = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const before = useRef<{ first: number | undefined; height: number; top: number } | null>(null);
  const news = useSignal(0);
  const away = useSignal(false);
  const blocks = talk.blocks.value;
  const first = blocks[0]?.[0]?.key;

  const toEnd = () => {
    stuck.current = true;
    news.value = 0;
    away.value = false;
    frame.current?.scrollTo({ top: frame.current.scrollHeight });
  };
  const onScroll = () => {
    const element = frame.current;
    if (!element) return;
    stuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    away.value = !stuck.current;
    if (stuck.current) news.value = 0;
    if (element.scrollTop < EARLY && talk.older.value === "more") {
      before.current = { first, height: element.scrollHeight, top: element.scrollTop };
      void loadOlder(session.id);
    }
  };

  // History was put before what is read: stay with what was in view.
  useLayoutEffect(() => {
    const element = frame.current;
    const was = before.current;
    if (!element || !was || was.first === first) return;
    before.current = null;
    element.scrollTop = element.scrollTop + (element.scrollHeight - was.height);
  }, [first]);

  // Whatever grows, by an item or by a preview, keeps the end in view for whoever is at the end.
  useEffect(() => {
    const element = inner.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      if (stuck.current) frame.current?.scrollTo({ top: frame.current.scrollHeight });
      else onScroll();
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  useCountNews(talk, () => {
    if (!stuck.current) news.value += 1;
  });

  const asks = openBySession.value.get(session.id)?.length ?? 0;
  return (
    <div class="scroller">
      <div class="scrolls history" ref={frame} onScroll={onScroll} tabIndex={0} role="log" aria-label={session.title}>
        <div class="measure" ref={inner}>
          {talk.older.value === "loading" && <p class="event">{t.chat.older}</p>}
          {talk.state.value === "loading" && <p class="event">{t.loading}</p>}
          {talk.state.value === "failed" && <p class="event error">{t.chat.failed}</p>}
          {blocks.map((entries) => (
            <Block key={entries[0]?.key} entries={entries} />
          ))}
          <Previews talk={talk} />
          {session.phase === "working" && !asks && !talk.previews.value.length && <p class="event working">{t.chat.working}</p>}
        </div>
      </div>
      {away.value && (
        <button type="button" class={asks ? "pill needs" : "pill"} onClick={toEnd}>
          {asks ? t.chat.needsYou : news.value ? t.chat.news(news.value) : t.chat.now} <Icon name="down" />
        </button>
      )}
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
    if (last.current !== undefined && key !== last.current) added();
    last.current = key;
  });
}
