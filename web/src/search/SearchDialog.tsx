/** Search in one conversation or in all: what was found, newest first, each a link to its place. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { SearchPage } from "../generated/api";
import { Alert } from "../parts/Alert";
import { Dialog } from "../parts/Dialog";
import { Select } from "../parts/Form";
import { Icon } from "../parts/Icons";
import { removed, sessionOf } from "../store/desk";
import { explainError, get } from "../store/http";
import { pathOf } from "../store/place";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t, textOr } from "../texts";
import { Narrowing } from "./Narrowing";
import { NOT_NARROWED, type Narrowed, parametersOf } from "./narrowed";
import { piecesOf } from "./pieces";
import type { Wanted } from "./searching";

type Found = SearchPage["found"][number];

/** After the last key, in milliseconds. */
const PAUSE = 200;

export function SearchDialog({ wanted, close }: { wanted: Wanted; close: () => void }) {
  const words = useSignal(wanted.words);
  const session = useSignal(wanted.session);
  const narrowed = useSignal(NOT_NARROWED);
  const search = useSearch(words.value, session.value, narrowed.value);
  const shown = search.found.filter((found) => found.session === null || !removed.value.has(found.session));
  const label = t("page.search.label");
  return (
    <Dialog title={t("page.search.title")} close={close}>
      <div class="search-form">
        <input
          type="search"
          class="search-words"
          placeholder={label}
          aria-label={label}
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
          onKeyDown={step}
          autoFocus
          maxLength={200}
        />
        {wanted.session !== null && (
          <Select
            aria-label={t("page.search.where")}
            value={session.value ?? ""}
            change={(value) => (session.value = value || null)}
            options={[
              [wanted.session, t("page.search.here")],
              ["", t("page.search.all")],
            ]}
          />
        )}
        <Narrowing narrowed={narrowed} everywhere={session.value === null} />
      </div>
      <p class="unseen" role="status">
        {search.state === "done" ? t("page.search.count", { count: shown.length }) : ""}
      </p>
      <Alert text={search.trouble} />
      <ol class="found" onKeyDown={step}>
        {shown.map((found) => (
          <Hit key={found.cursor} found={found} words={search.words} named={session.value === null} close={close} />
        ))}
      </ol>
      {search.state === "done" && !shown.length && search.words.trim() && <p class="empty">{t("page.search.nothing")}</p>}
      {search.state === "searching" && <p class="event">{t("page.search.searching")}</p>}
      {search.state === "done" && search.next !== null && (
        <button type="button" class="more" onClick={search.more}>
          {t("page.search.more")}
        </button>
      )}
    </Dialog>
  );
}

/** The arrows go from the words through the results; Enter in the words opens the newest. */
function step(event: KeyboardEvent): void {
  const dialog = (event.currentTarget as Element).closest("dialog");
  const stops = [...(dialog?.querySelectorAll<HTMLElement>(".search-words, .found a") ?? [])];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const next = by ? stops[at + by] : undefined;
  if (event.key === "Enter" && at === 0 && !event.isComposing) stops[1]?.click();
  else if (!next || event.shiftKey || event.altKey) return;
  else next.focus();
  event.preventDefault();
}

function Hit({ found, words, named, close }: { found: Found; words: string; named: boolean; close: () => void }) {
  const session = sessionOf(found.session);
  const href = found.session === null ? "/" : `${pathOf({ view: "session", id: found.session })}#at-${found.cursor}`;
  return (
    <li>
      <a data-inside href={href} onClick={close}>
        <span class="found-head">
          {named && <strong>{session ? reveal(session.title) : t("page.search.no_session")}</strong>}
          <span class="quiet-text">{[textOr(`page.search.kind.${found.kind}`, found.kind), moment(found.at)].join(" · ")}</span>
        </span>
        <span class="found-text">{piecesOf(found.text, words).map(({ text, hit }, at) => (hit ? <mark key={at}>{text}</mark> : text))}</span>
        <Icon name="right" />
      </a>
    </li>
  );
}

interface Search {
  state: "idle" | "searching" | "done";
  /** What was searched for: the text in the field may be newer. */
  words: string;
  found: readonly Found[];
  next: number | null;
  trouble: string | null;
}

const NONE: Search = { state: "idle", words: "", found: [], next: null, trouble: null };

/** Searches when the person stops typing. An answer to older words is ignored. */
function useSearch(words: string, session: string | null, narrowed: Narrowed): Search & { more: () => void } {
  const search = useSignal<Search>(NONE);
  const latest = useRef(0);
  const run = async (before: number | null) => {
    const turn = (latest.current += 1);
    const earlier = before === null ? [] : search.peek().found;
    search.value = { ...search.peek(), state: "searching", trouble: null };
    try {
      // In one conversation, where it is and how it is doesn't matter.
      const only = parametersOf(session ? { ...narrowed, project: "", state: "" } : narrowed, Date.now());
      const query = new URLSearchParams({ q: words, ...only, ...(session && { session }), ...(before !== null && { before: String(before) }) });
      const page = await get<SearchPage>(`/api/search?${query}`);
      if (turn === latest.current) search.value = { state: "done", words, found: [...earlier, ...page.found], next: page.next, trouble: null };
    } catch (error) {
      if (turn === latest.current) search.value = { ...search.peek(), state: "done", trouble: explainError(error) };
    }
  };
  useEffect(() => {
    if (!words.trim()) {
      latest.current += 1;
      search.value = NONE;
      return undefined;
    }
    const timer = setTimeout(() => void run(null), PAUSE);
    return () => clearTimeout(timer);
  }, [words, session, narrowed]);
  return { ...search.value, more: () => void run(search.peek().next) };
}
