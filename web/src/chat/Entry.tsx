/** One entry of a conversation: text, an action, a card, or a quiet line about what happened. */
import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Card } from "../cards/Card";
import type { Instruction, ItemOf } from "../feed/model";
import { isJoined } from "../feed/joining";
import { isRead, isRetry, type TimelineEntry } from "../feed/timeline";
import { Machine, Unfolds } from "../parts/Folded";
import { Markdown } from "../parts/Markdown";
import { memo } from "../parts/memo";
import { whenNear } from "../parts/near";
import { askOf, isMe, known, may } from "../store/desk";
import { modeName } from "../sessions/modes";
import { pathOf } from "../store/place";
import { changedFiles } from "../store/timelines";
import { actorName, sourceName } from "../text/names";
import { reveal } from "../text/reveal";
import { dollars, moment, span } from "../text/times";
import { t, textOr } from "../texts";
import { Action, Output, Reads } from "./Action";
import { ShownPictures } from "./ShownPictures";

/** The entry that a link leads to: it is drawn wherever it is. */
export const shownEntry = signal<number | null>(null);

/** Whether to show unrecognized messages too. */
export const everything = signal(false);

/** Pixels of a quiet line, pixels of a row of text, letters in such a row. */
const [LINE, ROW, WIDTH] = [40, 25, 84];

/** A block of entries; runs of reads are one line. A block far away is drawn when it comes near. */
export const Block = memo(({ entries, late }: { entries: readonly TimelineEntry[]; late: boolean }) => {
  const drawn = useSignal(!late || entries.some(waits));
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => (drawn.value || !frame.current ? undefined : whenNear(frame.current, () => (drawn.value = true))), []);
  useSignalEffect(() => {
    if (entries.some((entry) => entry.key === shownEntry.value)) drawn.value = true;
  });
  const tall = `${tallOf(entries)}px`;
  return (
    <div class={late ? "entries" : "entries end"} style={drawn.value ? { containIntrinsicHeight: `auto ${tall}` } : { height: tall }} ref={frame}>
      {drawn.value && <Entries entries={entries} />}
    </div>
  );
});

/** Their approximate height. */
function tallOf(entries: readonly TimelineEntry[]): number {
  return entries.reduce((tall, entry) => tall + (entry.kind === "text" ? textTall(entry.item.text) : LINE), 0);
}

function textTall(text: string): number {
  return text.split("\n").reduce((tall, line) => tall + (line ? Math.ceil(line.length / WIDTH) * ROW : ROW / 2), ROW / 2);
}

/** A card that can be answered is always drawn. */
function waits(entry: TimelineEntry): boolean {
  return entry.kind === "ask" && known.peek().asks.get(entry.ask)?.state === "open";
}

export function Entries({ entries }: { entries: readonly TimelineEntry[] }) {
  return (
    <>
      {runsOf(entries).map((run) => (
        <div key={run[0]?.key} data-at={run.map((entry) => entry.key).join(" ")}>
          {run.length > 1 ? <Reads run={run} /> : run.map((entry) => <One key={entry.key} entry={entry} />)}
        </div>
      ))}
    </>
  );
}

const One = memo(({ entry }: { entry: TimelineEntry }) => {
  switch (entry.kind) {
    case "said":
      return <Message item={entry.item} />;
    case "text":
      return entry.item.own ? (
        <div class="own-text">
          <Markdown text={entry.item.text} />
        </div>
      ) : (
        <Markdown text={entry.item.text} />
      );
    case "thinking":
      return <Thought text={entry.item.text} />;
    case "action":
      return <Action entry={entry} />;
    case "ask":
      return <InlineCard id={entry.ask} joins={entry.joins} />;
    case "turn":
      return <TurnEnd item={entry.item} />;
    case "notice":
      return <p class={`event ${entry.item.level}`}>{reveal(entry.item.text)}</p>;
    case "undone":
      return <p class="event warning">{t("page.machine.undone", { what: t(`page.machine.instruction.${entry.given.kind as Instruction["kind"]}`), reason: reveal(entry.item.reason) })}</p>;
    case "begun":
      return (
        <p class="event">
          {begun(entry.item)} · {moment(entry.at)}
        </p>
      );
    case "ended":
      return <SessionEnd item={entry.item} />;
    case "mode":
      return <p class="event">{t("page.chat.mode_changed", { mode: modeName(entry.mode) })}</p>;
    case "orphan":
      return <Output ended={entry.item} />;
    case "frame":
      return <UnknownFrame item={entry.item} />;
  }
});

function begun({ run, sandbox }: ItemOf<"session.started">): string {
  const started = run > 1 ? t("page.chat.resumed", { run }) : t("page.chat.started");
  if (!sandbox) return started;
  return `${started} · ${sandbox === "off" || sandbox === "none" ? t("page.chat.no_sandbox") : t("page.chat.sandbox", { name: sandbox })}`;
}

function InlineCard({ id, joins }: { id: string; joins: boolean }) {
  const ask = askOf(id);
  return ask && !(joins && isJoined(ask)) ? <Card ask={ask} where="chat" /> : null;
}

export function Thought({ text }: { text: string }) {
  return (
    <Unfolds title={t("page.chat.thinking")} tag="thinking">
      {() => <Markdown text={text} />}
    </Unfolds>
  );
}

function Message({ item }: { item: ItemOf<"said"> }) {
  return (
    <div class="said">
      <div class="said-text">{reveal(item.text)}</div>
      {item.images > 0 && <ShownPictures session={item.session} of={`says/${encodeURIComponent(item.say)}`} count={item.images} />}
      <p class="said-by">
        {isMe(item.by) ? t("page.chat.you") : `${actorName(item.by)} · ${sourceName(item.source)}`} · {moment(item.at)}
      </p>
    </div>
  );
}

function TurnEnd({ item }: { item: ItemOf<"turn.ended"> }) {
  const facts = [t("page.chat.turn", { number: item.turn }), span(item.duration_ms), dollars(item.cost_usd), ...(item.denials ? [t("page.chat.denials", { count: item.denials })] : [])];
  return (
    <>
      {item.interrupted && <p class="event">{t("page.chat.interrupted")}</p>}
      {item.is_error && !item.interrupted && (
        <div class="failure" role="note">
          <strong>{t("page.chat.turn_failed")}</strong>
          <Machine text={item.error ?? item.result} />
          <p>{t("page.chat.turn_failed_hint")}</p>
        </div>
      )}
      <p class="event turn">
        {facts.join(" · ")}
        {item.session !== null && may("approver") && changedFiles(item) && (
          <>
            {" · "}
            <a data-inside href={pathOf({ view: "session", id: item.session, part: "changes" })}>
              {t("page.review.at_turn")}
            </a>
          </>
        )}
      </p>
    </>
  );
}

function SessionEnd({ item }: { item: ItemOf<"session.ended"> }) {
  const bad = item.how === "failed" || item.how === "lost";
  const how = textOr(`card.session.ended.${item.how}`, t("card.session.ended.unknown"));
  const reason = item.reason ? `: ${reveal(item.reason)}` : "";
  if (!bad)
    return (
      <p class="event">
        {how + reason} · {moment(item.at)}
      </p>
    );
  return (
    <div class="failure" role="note">
      <strong>{item.alarm ? t("page.inbox.alarm") : how}</strong>
      <p>{reveal(item.reason)}</p>
      <p>{item.alarm ? t("page.inbox.alarm_hint") : t("page.chat.ended_hint")}</p>
    </div>
  );
}

function UnknownFrame({ item }: { item: ItemOf<"frame"> }) {
  if (!everything.value) return null;
  return (
    <Unfolds title={t("page.chat.unrecognized")} tag="event">
      {() => <Machine text={JSON.stringify(item.frame, null, 2)} />}
    </Unfolds>
  );
}

/** Consecutive successful reads belong together. */
function runsOf(entries: readonly TimelineEntry[]): TimelineEntry[][] {
  const runs: TimelineEntry[][] = [];
  const shown = entries.filter((entry) => entry.kind !== "frame" || everything.value);
  for (const [at, entry] of shown.entries()) {
    if (isRepeated(entry, shown[at + 1])) continue;
    const last = runs.at(-1);
    if (last && isQuiet(entry) && last[0] && isQuiet(last[0])) last.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

/** Claude also reports a model error in its own words, and each retry; it is shown once. */
function isRepeated(entry: TimelineEntry, next: TimelineEntry | undefined): boolean {
  if (isRetry(entry)) return isRetry(next);
  return entry.kind === "text" && next?.kind === "turn" && next.item.is_error && next.item.error === entry.item.text;
}

function isQuiet(entry: TimelineEntry): boolean {
  return isRead(entry) && entry.ask === null && entry.denial === null && entry.ended?.ok !== false && !entry.inside.length;
}
