/** Some rows of a diff, drawn while they are near the screen. Blank boxes count as unseen. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { CHUNK, type Chunk, chunkAt, chunkCount, GROUP, heightOf, ROW } from "../diff/chunks";
import { withoutEnding } from "../diff/facts";
import type { Nearness } from "../diff/nearness";
import type { LineRow, Pair, Row } from "../diff/rows";
import type { Segment } from "../diff/segments";
import type { DiffSource } from "../diff/source";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { Marked } from "./Folded";
import { memo } from "./memo";

type Decoration = typeof import("../diff/decoration");

/** Pixels of a letter, and of what stands beside a line: good enough for rows that weren't drawn yet. */
const [LETTER, BESIDE] = [7.9, 110];
const decoration = signal<Decoration | null>(null);
let loading = false;

function useDecoration(): Decoration | null {
  useEffect(() => {
    if (loading) return;
    loading = true;
    void import("../diff/decoration").then(
      (loaded) => (decoration.value = loaded),
      () => (loading = false),
    );
  }, []);
  return decoration.value;
}

interface ChunkProps {
  index: number;
  /** How many rows it has. */
  size: number;
  source: DiffSource;
  pairs: readonly Pair[] | null;
  nearness: Nearness;
  path: string;
  numbered: boolean;
  evidence: boolean;
  pick: ((row: LineRow) => void) | undefined;
  below: ((row: LineRow) => ComponentChildren) | undefined;
}

type GroupProps = Omit<ChunkProps, "index" | "size"> & { group: number; total: number; groups: Nearness };

/** Many chunks: one blank box until it comes near for the first time. From then on, each chunk is on its own. */
export const GroupBox = memo(({ group, total, groups, ...shared }: GroupProps) => {
  const frame = useRef<HTMLDivElement>(null);
  const opened = useRef(false);
  opened.current ||= groups.of(group).value;
  useEffect(() => (frame.current ? groups.enter(frame.current, group) : undefined), [groups, group, opened.current]);
  const [from, to] = [group * GROUP * CHUNK, Math.min(total, (group + 1) * GROUP * CHUNK)];
  if (!opened.current) {
    const height = `${(to - from) * ROW}px`;
    return <div class="diff-chunk" ref={frame} style={{ height }} data-evidence={shared.evidence || undefined} data-lines={shared.evidence ? to - from : undefined} data-blank="" />;
  }
  const first = group * GROUP;
  return (
    <>
      {Array.from({ length: chunkCount(to - from) }, (_, at) => (
        <ChunkBox key={at} index={first + at} size={chunkAt(first + at, total).to - (first + at) * CHUNK} {...shared} />
      ))}
    </>
  );
});

const ChunkBox = memo((props: ChunkProps) => {
  const { index, size, source, pairs, nearness, evidence } = props;
  const frame = useRef<HTMLDivElement>(null);
  const near = nearness.of(index).value;
  const known = pairs !== null || isKnown(source, index, size);
  useEffect(() => (frame.current ? nearness.enter(frame.current, index) : undefined), [nearness, index]);
  useEffect(() => {
    if (near && !known) source.want(rangeOf(index, size));
  }, [near, known]);
  const drawn = near && known;
  const height = drawn ? undefined : `${Math.round(nearness.heightOf(index) ?? estimate(props, frame.current?.clientWidth ?? 800))}px`;
  return (
    <div class="diff-chunk" ref={frame} style={{ height }} data-evidence={evidence || undefined} data-lines={evidence ? size : undefined} data-blank={drawn ? undefined : ""}>
      {drawn && <Rows {...props} />}
      {near && !known && <Loading source={source} range={rangeOf(index, size)} />}
    </div>
  );
});

const rangeOf = (index: number, size: number): Chunk => ({ from: chunkAt(index, Infinity).from, to: chunkAt(index, Infinity).from + size });

function isKnown(source: DiffSource, index: number, size: number): boolean {
  const range = rangeOf(index, size);
  if (source.isKnown(range)) return true;
  void source.version.value;
  return false;
}

function Loading({ source, range }: { source: DiffSource; range: Chunk }) {
  if (!source.failed.value) return <p class="note diff-loading">{t("page.loading")}</p>;
  return (
    <p class="note diff-loading">
      {t("page.diff.not_loaded")}{" "}
      <button type="button" class="quiet" onClick={() => source.want(range)}>
        {t("page.retry")}
      </button>
    </p>
  );
}

function estimate({ index, size, source, pairs }: ChunkProps, width: number): number {
  const { from, to } = rangeOf(index, size);
  const columns = Math.floor((width / (pairs ? 2 : 1) - BESIDE) / LETTER);
  if (pairs)
    return heightOf(
      pairs.slice(from, to).map((pair) => ("hunk" in pair ? 1 : Math.max(lengthOf(pair.left), lengthOf(pair.right)))),
      columns,
    );
  if (!source.isKnown({ from, to })) return size * ROW;
  return heightOf(
    source.rows.slice(from, to).map((row) => (row?.kind === "end" ? 0 : lengthOf(row))),
    columns,
  );
}

function lengthOf(row: Row | null | undefined): number {
  return row && "text" in row ? row.text.length : 1;
}

/** How the lines of a chunk look: as plain text, and in pieces once these can be made. */
interface Look {
  text: (row: LineRow) => string;
  pieces: ((row: LineRow) => Segment[]) | null;
}

function useLook({ index, size, source, pairs, path }: ChunkProps): Look {
  const loaded = useDecoration();
  return useMemo(() => {
    const texts = new Map<LineRow, string>();
    const text = (row: LineRow) => {
      let found = texts.get(row);
      if (found === undefined) texts.set(row, (found = reveal(withoutEnding(row, source.facts))));
      return found;
    };
    return { text, pieces: loaded?.decorate({ source, pairs, ...rangeOf(index, size) }, path, text) ?? null };
  }, [loaded, index, size, source, pairs, path]);
}

function Rows(props: ChunkProps) {
  const look = useLook(props);
  const { from, to } = rangeOf(props.index, props.size);
  return props.pairs ? <SideBySide {...props} pairs={props.pairs.slice(from, to)} look={look} /> : <OneColumn {...props} rows={props.source.rows.slice(from, to)} look={look} />;
}

const SIGNS = { same: " ", gone: "−", added: "+" };

function OneColumn({ rows, look, numbered, pick, below }: ChunkProps & { rows: readonly (Row | undefined)[]; look: Look }) {
  const columns = numbered ? 4 : 2;
  return (
    <table class="diff-rows unified">
      <Columns numbers={numbered ? 2 : 0} sign />
      <tbody>
        {rows.map((row, at) => {
          if (row === undefined || row.kind === "end") return null;
          if (row.kind === "hunk") return <Hunk key={at} text={row.text} columns={columns} />;
          const under = below?.(row);
          return [
            <tr key={at} class={row.kind}>
              {numbered && <NumberCell row={row} number={"old" in row ? row.old : null} pick={row.kind === "gone" ? pick : undefined} />}
              {numbered && <NumberCell row={row} number={"new" in row ? row.new : null} pick={pick} />}
              <td class="sign">{SIGNS[row.kind]}</td>
              <LineCell row={row} look={look} />
            </tr>,
            under && (
              <tr key={`${at}-below`} class="below">
                <td colSpan={columns}>{under}</td>
              </tr>
            ),
          ];
        })}
      </tbody>
    </table>
  );
}

function SideBySide({ pairs, look, numbered, pick, below }: Omit<ChunkProps, "pairs"> & { pairs: readonly Pair[]; look: Look }) {
  const columns = numbered ? 4 : 2;
  return (
    <table class="diff-rows split">
      <Columns numbers={numbered ? 1 : 0} twice />
      <tbody>
        {pairs.map((pair, at) => {
          if ("hunk" in pair) return <Hunk key={at} text={pair.hunk} columns={columns} />;
          const under = (pair.right && below?.(pair.right)) || (pair.left && pair.left !== pair.right && below?.(pair.left));
          return [
            <tr key={at}>
              <Half row={pair.left} side="old" numbered={numbered} look={look} pick={pair.left === pair.right ? undefined : pick} />
              <Half row={pair.right} side="new" numbered={numbered} look={look} pick={pick} />
            </tr>,
            under && (
              <tr key={`${at}-below`} class="below">
                <td colSpan={columns}>{under}</td>
              </tr>
            ),
          ];
        })}
      </tbody>
    </table>
  );
}

function Columns({ numbers, sign = false, twice = false }: { numbers: number; sign?: boolean; twice?: boolean }) {
  const half = (
    <>
      {Array.from({ length: numbers }, (_, at) => (
        <col key={at} class="number" />
      ))}
      {sign && <col class="sign" />}
      <col />
    </>
  );
  return (
    <colgroup>
      {half}
      {twice && half}
    </colgroup>
  );
}

function Hunk({ text, columns }: { text: string; columns: number }) {
  return (
    <tr class="hunk">
      <td colSpan={columns}>{reveal(text)}</td>
    </tr>
  );
}

interface HalfProps {
  row: LineRow | null;
  side: "old" | "new";
  numbered: boolean;
  look: Look;
  pick: ((row: LineRow) => void) | undefined;
}

function Half({ row, side, numbered, look, pick }: HalfProps) {
  if (!row) return <td class="absent" colSpan={numbered ? 2 : 1} />;
  const number = row.kind === "same" ? row[side] : row.kind === "gone" ? row.old : row.new;
  return (
    <>
      {numbered && <NumberCell row={row} number={number} pick={pick} />}
      <LineCell row={row} look={look} />
    </>
  );
}

/** The number of a line; a button, if it can be picked. */
function NumberCell({ row, number, pick }: { row: LineRow; number: number | null; pick: ((row: LineRow) => void) | undefined }) {
  if (number === null || !pick) return <td class={`number ${row.kind}`}>{number}</td>;
  return (
    <td class={`number ${row.kind}`}>
      <button type="button" class="line-pick" aria-label={t("review.comment_on", { line: number })} title={t("review.comment_on", { line: number })} onClick={() => pick(row)}>
        {number}
      </button>
    </td>
  );
}

function LineCell({ row, look }: { row: LineRow; look: Look }) {
  if (!look.pieces)
    return (
      <td class={`line ${row.kind}`}>
        <Marked line={look.text(row)} />
      </td>
    );
  return (
    <td class={`line ${row.kind}`}>
      {look.pieces(row).map(({ text, kind, changed, mark }, at) => {
        if (mark) return <mark key={at}>{text}</mark>;
        if (!kind && !changed) return text;
        return (
          <span key={at} class={`${kind ? `code-${kind}` : ""}${changed ? " word" : ""}`}>
            {text}
          </span>
        );
      })}
    </td>
  );
}
