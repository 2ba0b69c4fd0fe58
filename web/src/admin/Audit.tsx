/** The audit: who did what, when, from where. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Audit, Entry } from "../generated/api";
import { moment } from "../store/clock";
import { may, sessions } from "../store/desk";
import { get, inWords } from "../store/http";
import { pathOf } from "../store/place";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { Trouble } from "./read";

const WHAT = ["answered", "late answer", "expired", "withdrawn", "refused", "token made", "token revoked", "rule made", "rule revoked", "session started", "session stopped", "session resumed", "login"];
const PAGE = 100;

/** All of the audit, oldest first. */
export async function readAudit(query = ""): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page: Audit = await get<Audit>(`/api/audit?limit=5000&after=${after}${query}`);
    entries.push(...page.entries);
    after = page.next;
  }
  return entries;
}

export function AuditPage() {
  if (!may("admin")) return <p class="empty">{t.admin.needsAdmin}</p>;
  return <List />;
}

function List() {
  const what = useSignal("");
  const by = useSignal("");
  const entries = useSignal<Entry[] | null>(null);
  const trouble = useSignal<string | null>(null);
  const shown = useSignal(PAGE);
  useEffect(() => {
    const query = what.value ? `&what=${encodeURIComponent(what.value)}` : "";
    readAudit(query).then(
      (read) => (entries.value = read.reverse()),
      (error: unknown) => (trouble.value = inWords(error, t.away)),
    );
  }, [what.value]);
  const wanted = by.value.trim().toLowerCase();
  const list = (entries.value ?? []).filter((entry) => !wanted || searchable(entry).includes(wanted));
  return (
    <>
      <div class="filters">
        <label class="field">
          <span>{t.admin.what}</span>
          <select value={what.value} onChange={(event) => (what.value = event.currentTarget.value)}>
            <option value="">{t.admin.any}</option>
            {WHAT.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{t.admin.search}</span>
          <input type="search" value={by.value} onInput={(event) => (by.value = event.currentTarget.value)} />
        </label>
      </div>
      <Trouble reading={{ trouble }} />
      {entries.value && !list.length && <p class="empty">{t.admin.noEntries}</p>}
      {list.length > 0 && (
        <div class="table-frame" tabIndex={0} role="region" aria-label={t.admin.pages["audit"]}>
          <table class="list">
            <thead>
              <tr>
                <th>{t.admin.when}</th>
                <th>{t.admin.what}</th>
                <th>{t.admin.by}</th>
                <th>{t.admin.from}</th>
                <th>{t.admin.forWhat}</th>
              </tr>
            </thead>
            <tbody>
              {list.slice(0, shown.value).map((entry) => (
                <Row key={entry.number} entry={entry} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.length > shown.value && (
        <button type="button" class="more" onClick={() => (shown.value += PAGE)}>
          {t.admin.older}
        </button>
      )}
    </>
  );
}

function Row({ entry }: { entry: Entry }) {
  const session = entry.session ? sessions.value.get(entry.session) : undefined;
  const detail = Object.keys(entry.detail).length ? JSON.stringify(entry.detail) : "";
  return (
    <tr>
      <td class="nowrap">{moment(entry.at)}</td>
      <td class="nowrap">{entry.what}</td>
      <td>{entry.by.kind === "rule" ? `rule ${reveal(entry.by.rule)}` : reveal(entry.by.name)}</td>
      <td>{reveal(entry.source)}</td>
      <td class="detail">
        {session && (
          <a data-inside href={pathOf({ view: "session", id: session.id })}>
            {reveal(session.title)}
          </a>
        )}
        {detail && <code title={reveal(detail)}>{reveal(detail.slice(0, 200))}{detail.length > 200 ? "…" : ""}</code>}
      </td>
    </tr>
  );
}

function searchable(entry: Entry): string {
  const who = entry.by.kind === "rule" ? entry.by.rule : entry.by.name;
  return [who, entry.source, entry.what, entry.ask, entry.session, entry.rule, JSON.stringify(entry.detail)].join(" ").toLowerCase();
}
