/** What a session changed in its working tree, file by file. A comment on a line goes to Claude; a file can be reverted. */
import "../styles/review.css";
import "./texts";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Alert } from "../parts/Alert";
import { Diff } from "../parts/Diff";
import { Dialog } from "../parts/Dialog";
import { whenNear } from "../parts/near";
import type { LineRow } from "../diff/rows";
import type { Session } from "../feed/model";
import type { FileChange, FileDiff, Review as Found } from "../generated/api";
import { may } from "../store/desk";
import { explainError, get, post, Refused } from "../store/http";
import { pathOf } from "../store/place";
import { conversation } from "../store/timelines";
import { reveal, revealExactly } from "../text/reveal";
import { t } from "../texts";
import { lineOf, nameOf } from "./lines";
import { CommentForm, SentComment } from "./Comment";
import { FromCalls } from "./FromCalls";

/** What people do here, for all files. */
interface Reviewing {
  session: Session;
  review: Found;
  /** The line that a comment is written on. */
  line: Signal<string | null>;
  /** What was sent, by line. */
  sent: Signal<ReadonlyMap<string, string>>;
  trouble: Signal<string | null>;
  again: () => void;
}

export function Review({ session }: { session: Session }) {
  const review = useSignal<Found | null>(null);
  const trouble = useSignal<string | null>(null);
  const line = useSignal<string | null>(null);
  const sent = useSignal<ReadonlyMap<string, string>>(new Map());
  const again = () => {
    trouble.value = null;
    get<Found>(`/api/sessions/${encodeURIComponent(session.id)}/changes`).then(
      (found) => (review.value = found),
      (error) => (trouble.value = explainError(error)),
    );
  };
  // Claude changes files while it works: when a turn ends, everything is read again, unless a person is writing.
  const busy = session.phase === "working";
  useEffect(() => {
    if (!review.peek() || (!busy && line.peek() === null)) again();
  }, [session.id, busy]);
  return (
    <div class="scroller">
      <div class="scrolls review">
        <div class="review-head">
          <a data-inside href={pathOf({ view: "session", id: session.id })} class="quiet-link">
            {t("review.back")}
          </a>
          <h2>{t("review.title")}</h2>
          <span class="spring" />
          <button type="button" class="quiet small" onClick={again}>
            {t("review.refresh")}
          </button>
          {review.value && <Summary review={review.value} />}
        </div>
        <Alert text={trouble.value} />
        {!review.value && !trouble.value && <p class="empty">{t("page.loading")}</p>}
        {review.value && <Files session={session} review={review.value} line={line} sent={sent} trouble={trouble} again={again} />}
      </div>
    </div>
  );
}

function Summary({ review: { source, files, commit, since_start } }: { review: Found }) {
  if (source !== "git") return null;
  const [added, gone] = [sum(files.map((file) => file.added)), sum(files.map((file) => file.gone))];
  return (
    <p class="quiet-text review-summary">
      {files.length > 0 && (
        <>
          {t("review.files", { count: files.length })}{" "}
          <span class="count">
            <span class="plus">+{added}</span> <span class="minus">−{gone}</span>
          </span>
        </>
      )}
      {commit && <span> {since_start ? t("review.since_start", { commit: commit.slice(0, 8) }) : t("review.since_head", { commit: commit.slice(0, 8) })}</span>}
    </p>
  );
}

function sum(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((total, each) => total + (each ?? 0), 0);
}

function Files(reviewing: Reviewing) {
  const { review, session } = reviewing;
  if (review.source === "none") return <FromCalls session={session} talk={conversation(session.id)} />;
  if (!review.files.length) return <p class="empty">{t("review.none")}</p>;
  return (
    <>
      <FileList files={review.files} />
      {review.more && <p class="note">{t("review.more_files", { most: review.files.length })}</p>}
      {review.files.map((file) => (
        <FileBox key={file.path} file={file} reviewing={reviewing} />
      ))}
    </>
  );
}

/** Leads to each file. */
function FileList({ files }: { files: readonly FileChange[] }) {
  const go = (path: string) => document.getElementById(idOf(path))?.scrollIntoView({ block: "start" });
  return (
    <ul class="review-files">
      {files.map(({ path, status, added, gone }) => (
        <li key={path}>
          <button type="button" class="quiet" onClick={() => go(path)}>
            <code>{revealExactly(path)}</code>
          </button>
          <span class={`status ${status}`}>{t(`review.status.${status}`)}</span>
          {added !== null && (
            <span class="count">
              <span class="plus">+{added}</span> <span class="minus">−{gone ?? 0}</span>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

const idOf = (path: string): string => `file-${path}`;

/** One file; its diff is fetched when it comes near. */
function FileBox({ file, reviewing }: { file: FileChange; reviewing: Reviewing }) {
  const { session, review } = reviewing;
  const frame = useRef<HTMLElement>(null);
  const shown = useSignal<FileDiff | null>(null);
  const gone = useSignal("");
  const path = `/api/sessions/${encodeURIComponent(session.id)}/changes/file?path=${encodeURIComponent(file.path)}`;
  useEffect(() => {
    shown.value = null;
    gone.value = "";
    const load = () =>
      void get<FileDiff>(path).then(
        (found) => (shown.value = found),
        (error) => (gone.value = error instanceof Refused && error.status === 404 ? t("review.not_shown.gone") : explainError(error)),
      );
    return frame.current ? whenNear(frame.current, load) : undefined;
  }, [review]);
  return (
    <section class="review-file" id={idOf(file.path)} ref={frame} aria-label={revealExactly(file.path)}>
      {shown.value && !shown.value.problem ? (
        <FileLines diff={shown.value} path={path} reviewing={reviewing} />
      ) : (
        <div class="diff">
          <div class="diff-head">
            <code>{revealExactly(file.path)}</code>
            <span class="status">{t(`review.status.${file.status}`)}</span>
            {shown.value && <Revert diff={shown.value} reviewing={reviewing} />}
          </div>
          <p class="note">{whyNot(shown.value, gone.value)}</p>
        </div>
      )}
    </section>
  );
}

function whyNot(shown: FileDiff | null, gone: string): string {
  if (gone) return reveal(gone);
  return shown ? t(`review.not_shown.${shown.problem as "binary" | "large" | "link" | "secret"}`) : t("page.loading");
}

function FileLines({ diff, path, reviewing }: { diff: FileDiff; path: string; reviewing: Reviewing }) {
  const { session, line, sent } = reviewing;
  const fetch = useMemo(() => async (first: number, limit: number) => (await get<FileDiff>(`${path}&first=${first}&limit=${limit}&digest=${encodeURIComponent(diff.digest)}`)).part, [diff]);
  const comments = may(session.ended ? "admin" : "approver") && !session.terminal;
  const [writing, done] = [line.value, sent.value];
  const below = useMemo(
    () => (row: LineRow) => {
      const name = nameOf(lineOf(diff.path, row));
      const comment = done.get(name);
      if (writing !== name && comment === undefined) return null;
      return (
        <>
          {comment !== undefined && <SentComment text={comment} />}
          {writing === name && (
            <CommentForm
              session={session}
              line={lineOf(diff.path, row)}
              close={() => (line.value = null)}
              sent={(text) => {
                sent.value = new Map(sent.value).set(name, text);
                line.value = null;
              }}
            />
          )}
        </>
      );
    },
    [writing, done, diff, session],
  );
  const pick = useMemo(() => (comments ? (row: LineRow) => (line.value = nameOf(lineOf(diff.path, row))) : undefined), [comments, diff]);
  return (
    <Diff
      whole
      diff={diff.part.text}
      facts={diff.facts}
      fetch={fetch}
      name={`${session.id} ${diff.path} ${diff.digest}`}
      path={diff.path}
      note={diff.facts.lines ? "" : t("page.diff.empty")}
      pick={pick}
      below={below}
    >
      <span class="status">{t(`review.status.${diff.status}`)}</span>
      <Revert diff={diff} reviewing={reviewing} />
    </Diff>
  );
}

/** Asks first: what was changed is lost. */
function Revert({ diff, reviewing }: { diff: FileDiff; reviewing: Reviewing }) {
  const asking = useSignal(false);
  const { session, review, trouble, again } = reviewing;
  if (!may("admin") || diff.status === "link") return null;
  const revert = () => {
    asking.value = false;
    post(`/api/sessions/${encodeURIComponent(session.id)}/changes/revert`, { path: diff.path, digest: diff.digest }).then(again, (error) => (trouble.value = explainError(error)));
  };
  const commit = review.commit.slice(0, 8);
  return (
    <>
      <button type="button" class="quiet" onClick={() => (asking.value = true)}>
        {t("review.revert")}
      </button>
      {asking.value && (
        <Dialog title={t("review.revert_title", { path: revealExactly(diff.path) })} close={() => (asking.value = false)}>
          <p>{diff.status === "added" ? t("review.revert_added") : t(`review.revert_${diff.status as "modified" | "deleted"}`, { commit })}</p>
          <div class="row-of-buttons">
            <button type="button" class="danger" onClick={revert}>
              {t("review.revert")}
            </button>
            <button type="button" class="quiet" onClick={() => (asking.value = false)}>
              {t("page.cancel")}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
