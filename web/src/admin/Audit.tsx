/** The audit log: who did what, when, and from where; newest first. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Audit, Entry } from "../generated/api";
import { Field, Select, TextField } from "../parts/Form";
import { Machine, Unfolds } from "../parts/Folded";
import { narrow } from "../parts/narrow";
import { Quoted } from "../parts/Quoted";
import { Table } from "../parts/Table";
import { may, sessionOf, sessions } from "../store/desk";
import { get, explainError } from "../store/http";
import { pathOf } from "../store/place";
import { actorName, sourceName } from "../text/names";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t, textOr } from "../texts";
import { sayEntry, sentenceOf } from "./entries";
import { periodOf } from "./numbers";
import { Trouble } from "./read";

const PAGE = 100;
/** The offered time spans, in days. */
const DAYS = [0, 1, 7, 30];
/** Everything the hub writes to its audit log, by the hub's own names. */
const EVENTS: Entry["what"][] = [
  "answered",
  "late answer",
  "expired",
  "withdrawn",
  "refused",
  "token made",
  "token revoked",
  "rule made",
  "rule revoked",
  "project added",
  "project changed",
  "project removed",
  "session started",
  "session stopped",
  "session resumed",
  "session removed",
  "login",
  "device added",
  "device removed",
  "trust revoked",
  "denied call allowed",
  "alarm",
  "machine renamed",
  "machine forgotten",
  "file reverted",
  "webhook added",
  "webhook changed",
  "webhook removed",
  "webhook secret rotated",
  "channel added",
  "channel changed",
  "channel removed",
  "chain changed",
];

function nameOf(event: Entry["what"]): string {
  return textOr(`admin.audit.event.${event.replaceAll(" ", "_")}`, event);
}

interface Wanted {
  what: string;
  by: string;
  session: string;
  days: number;
}

export function AuditPage() {
  if (!may("admin")) return <p class="empty">{t("admin.needs_admin")}</p>;
  return <Log />;
}

function Log() {
  const wanted = useSignal<Wanted>({ what: "", by: "", session: "", days: 0 });
  const words = useSignal("");
  const { entries, next, trouble, read } = useLog(wanted);
  const searched = words.value.trim().toLowerCase();
  const shown = (entries.value ?? []).filter((entry) => !searched || JSON.stringify(entry).toLowerCase().includes(searched));
  return (
    <>
      <LogFilters wanted={wanted.value} set={(part) => (wanted.value = { ...wanted.value, ...part })} words={words.value} search={(text) => (words.value = text)} />
      <Trouble reading={{ trouble }} />
      {!entries.value && !trouble.value && <p class="empty">{t("page.loading")}</p>}
      {entries.value && !shown.length && <p class="empty">{t("admin.no_match")}</p>}
      {shown.length > 0 && <LogTable entries={shown} />}
      {next.value !== null && (
        <button type="button" class="more" onClick={() => void read(next.value)}>
          {t("admin.audit.more")}
        </button>
      )}
    </>
  );
}

/** The filtered entries, page by page. */
function useLog(wanted: Signal<Wanted>) {
  const entries = useSignal<Entry[] | null>(null);
  const next = useSignal<number | null>(null);
  const trouble = useSignal<string | null>(null);
  const read = async (before: number | null) => {
    const asked = wanted.value;
    trouble.value = null;
    try {
      const page = await get<Audit>(`/api/audit?${queryOf(asked, before)}`);
      // The filter has changed meanwhile.
      if (asked !== wanted.value) return;
      entries.value = [...(before === null ? [] : (entries.value ?? [])), ...page.entries];
      next.value = page.next;
    } catch (error) {
      if (asked === wanted.value) trouble.value = explainError(error);
    }
  };
  useEffect(() => void read(null), [wanted.value]);
  return { entries, next, trouble, read };
}

function LogTable({ entries }: { entries: readonly Entry[] }) {
  if (narrow.value) return <Sentences entries={entries} />;
  const heads = [t("admin.audit.when"), t("admin.audit.what"), t("admin.audit.by"), t("admin.audit.from"), t("admin.audit.about")];
  return (
    <Table label={t("page.admin.page.audit")} heads={heads} kind="audit">
      {entries.map((entry) => (
        <LogRow key={entry.number} entry={entry} />
      ))}
    </Table>
  );
}

/** On a phone: each entry is a sentence, with where and when below it. */
function Sentences({ entries }: { entries: readonly Entry[] }) {
  return (
    <ol class="entry-list" aria-label={t("page.admin.page.audit")}>
      {entries.map((entry) => (
        <li key={entry.number}>
          <p>{sentenceOf(entry.what, actorName(entry.by), nameOf(entry.what))}</p>
          <LogDetail entry={entry} />
          <p class="quiet-text">{[sourceName(entry.source), moment(entry.at)].join(" · ")}</p>
        </li>
      ))}
    </ol>
  );
}

function LogFilters({ wanted, set, words, search }: { wanted: Wanted; set: (part: Partial<Wanted>) => void; words: string; search: (text: string) => void }) {
  const recent = [...sessions.value.values()].sort((a, b) => (a.changed_at > b.changed_at ? -1 : 1)).slice(0, 200);
  const any = ["", t("admin.audit.any")] as const;
  return (
    <div class="four filters">
      <Field label={t("admin.audit.what")}>
        <Select value={wanted.what} change={(what) => set({ what })} options={[any, ...EVENTS.map((each) => [each, nameOf(each)] as const)]} />
      </Field>
      <Field label={t("admin.audit.by")}>
        <input value={wanted.by} placeholder={t("admin.audit.everyone")} onChange={(event) => set({ by: event.currentTarget.value.trim() })} />
      </Field>
      <Field label={t("admin.audit.session")}>
        <Select value={wanted.session} change={(session) => set({ session })} options={[any, ...recent.map((each) => [each.id, reveal(each.title)] as const)]} />
      </Field>
      <Field label={t("admin.audit.when")}>
        <Select value={wanted.days} change={(days) => set({ days: Number(days) })} options={DAYS.map((each) => [each, periodOf(each)])} />
      </Field>
      <Field label={t("admin.audit.search")} hint={t("admin.audit.search_hint")}>
        <TextField type="search" value={words} change={search} />
      </Field>
    </div>
  );
}

function queryOf({ what, by, session, days }: Wanted, before: number | null): string {
  const query = new URLSearchParams({ order: "newest", limit: String(PAGE) });
  if (what) query.set("what", what);
  if (by) query.set("by", by);
  if (session) query.set("session", session);
  if (days) query.set("since", new Date(Date.now() - days * 86_400_000).toISOString());
  if (before !== null) query.set("before", String(before));
  return query.toString();
}

function LogRow({ entry }: { entry: Entry }) {
  return (
    <tr>
      <td class="nowrap">{moment(entry.at)}</td>
      <td class="nowrap">{nameOf(entry.what)}</td>
      <td>{actorName(entry.by)}</td>
      <td>{sourceName(entry.source)}</td>
      <td class="detail">
        <LogDetail entry={entry} />
      </td>
    </tr>
  );
}

function LogDetail({ entry }: { entry: Entry }) {
  const session = sessionOf(entry.session);
  const more = { ...(entry.ask ? { ask: entry.ask } : {}), ...(entry.digest ? { digest: entry.digest } : {}), ...(entry.rule ? { rule: entry.rule } : {}), ...entry.detail };
  const link = (text: string) =>
    session && (
      <a data-inside href={pathOf({ view: "session", id: session.id })}>
        {text}
      </a>
    );
  if (!Object.keys(more).length) return <>{session && link(reveal(session.title))}</>;
  const title = (
    <>
      <Quoted text={sayEntry(entry)} />
      {session && <span class="quiet-text"> {reveal(session.title)}</span>}
    </>
  );
  return (
    <Unfolds title={title}>
      {() => (
        <>
          {link(t("page.card.open_conversation"))}
          <Machine text={JSON.stringify(more, null, 2)} label={t("admin.audit.about")} />
        </>
      )}
    </Unfolds>
  );
}
