/** A change to a file: in one column, or side by side where there is room. */
import { signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { count, pairUp, readDiff, type Row } from "../text/diff";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { Marked, More } from "./Folded";

const MOST = 26;
/** Evidence is shown in full, unless it is really long. */
const MOST_EVIDENCE = 300;
/** Two columns need this many pixels. */
const ROOM = 640;
const preferred = signal(localStorage.getItem("handraise.diff") === "two" ? "two" : "one");

interface DiffProps {
  /** A unified diff, or its rows. */
  diff: string | readonly Row[];
  note?: string;
  path: string;
  /** Whether the line numbers are those of the file. */
  numbered?: boolean;
  /** Part of the evidence: what was not on the screen counts as unseen. */
  evidence?: boolean;
}

export function Diff({ diff, note = "", path, numbered = true, evidence = false }: DiffProps) {
  const open = useSignal(false);
  const frame = useRef<HTMLDivElement>(null);
  const room = useRoom(frame);
  const rows = typeof diff === "string" ? readDiff(diff) : diff;
  const two = preferred.value === "two" && count(rows).gone > 0 && room;
  const most = evidence ? MOST_EVIDENCE : MOST;
  const rest = rows.length - most;
  const shown = rest > 3 && !open.value ? rows.slice(0, most) : rows;
  return (
    <div class="diff" ref={frame} data-evidence={evidence || undefined} data-rest={rest > 3 && !open.value ? rest : undefined}>
      <DiffHead rows={rows} path={path} room={room} two={two} />
      {note && <p class="note">{reveal(note)}</p>}
      {rows.length === 0 && !note && <p class="note">{t("page.diff.no_changes")}</p>}
      {rows.length > 0 && (
        <div class="diff-body" tabIndex={0} role="region" aria-label={reveal(path)}>
          {two ? <SideBySide rows={shown} numbered={numbered} /> : <OneColumn rows={shown} numbered={numbered} />}
        </div>
      )}
      {rest > 3 && <More open={open.value} rest={rest} toggle={() => (open.value = !open.value)} />}
    </div>
  );
}

/** Whether two columns fit into this element. */
function useRoom(frame: { current: HTMLElement | null }): boolean {
  const room = useSignal(false);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => (room.value = (entry?.contentRect.width ?? 0) >= ROOM));
    if (frame.current) watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  return room.value;
}

function DiffHead({ rows, path, room, two }: { rows: readonly Row[]; path: string; room: boolean; two: boolean }) {
  const { added, gone } = count(rows);
  const choose = () => {
    preferred.value = preferred.value === "two" ? "one" : "two";
    localStorage.setItem("handraise.diff", preferred.value);
  };
  return (
    <div class="diff-head">
      <code>{reveal(path)}</code>
      <span class="count">
        <span class="plus">+{added}</span> <span class="minus">−{gone}</span>
      </span>
      {gone > 0 && room && (
        <button type="button" class="quiet" onClick={choose}>
          {two ? t("page.diff.unified") : t("page.diff.side_by_side")}
        </button>
      )}
    </div>
  );
}

function OneColumn({ rows, numbered }: { rows: readonly Row[]; numbered: boolean }) {
  return (
    <table class="one">
      <tbody>
        {rows.map((row, at) =>
          row.kind === "hunk" ? (
            <tr key={at} class="hunk">
              <td colSpan={3}>{reveal(row.text)}</td>
            </tr>
          ) : (
            <tr key={at} class={row.kind}>
              {numbered && <td class="number">{row.kind === "added" ? row.new : row.old}</td>}
              <td class="sign">{SIGNS[row.kind]}</td>
              <td class="line">
                <Marked line={reveal(row.text)} />
              </td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

const SIGNS = { same: " ", gone: "−", added: "+" };

function SideBySide({ rows, numbered }: { rows: readonly Row[]; numbered: boolean }) {
  return (
    <table class="two">
      <colgroup>
        {numbered && <col class="number" />}
        <col />
        {numbered && <col class="number" />}
        <col />
      </colgroup>
      <tbody>
        {pairUp(rows).map((pair, at) =>
          "hunk" in pair ? (
            <tr key={at} class="hunk">
              <td colSpan={4}>{reveal(pair.hunk)}</td>
            </tr>
          ) : (
            <tr key={at}>
              <Half row={pair.left} side="old" numbered={numbered} />
              <Half row={pair.right} side="new" numbered={numbered} />
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function Half({ row, side, numbered }: { row: Row | null; side: "old" | "new"; numbered: boolean }) {
  if (!row || row.kind === "hunk") return <td class="nothing" colSpan={numbered ? 2 : 1} />;
  const number = row.kind === "same" ? row[side] : row.kind === "gone" ? row.old : row.new;
  return (
    <>
      {numbered && <td class={`number ${row.kind}`}>{number}</td>}
      <td class={`line ${row.kind}`}>
        <Marked line={reveal(row.text)} />
      </td>
    </>
  );
}
