/** A change to a file: in one column, or side by side where there is room. Of a long one, only what is near the screen is drawn. */
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { CHUNK, chunkCount, GROUP } from "../diff/chunks";
import { factsOf, remarksOf } from "../diff/facts";
import { Nearness } from "../diff/nearness";
import { type LineRow, type Pair, pairUp, readDiff, type Row } from "../diff/rows";
import { DiffSource, type FetchPart, sourceNamed } from "../diff/source";
import type { DiffFacts } from "../feed/model";
import { reveal, revealExactly } from "../text/reveal";
import { t } from "../texts";
import { GroupBox } from "./DiffChunk";
import { More } from "./Folded";

const MOST = 26;
/** Evidence is shown in full, unless it is really long. */
const MOST_EVIDENCE = 300;
/** Two columns need this many pixels. */
const ROOM = 640;
/** Longer diffs are shown in one column: for two, all of it has to be here. */
const MOST_TWO = 20_000;
const preferred = signal(localStorage.getItem("handraise.diff") === "two" ? "two" : "one");

export interface DiffProps {
  /** A unified diff, or its rows; or the beginning of one. */
  diff: string | readonly Row[];
  /** What the hub says about all of it. */
  facts?: DiffFacts | null | undefined;
  /** Gets the rest, if this is only the beginning. Then it has a name, too. */
  fetch?: FetchPart | undefined;
  name?: string;
  note?: string;
  path: string;
  /** Whether the line numbers are those of the file. */
  numbered?: boolean;
  /** Part of the evidence: what was not on the screen counts as unseen. */
  evidence?: boolean;
  /** Shown in full, as far as it is near the screen, without a scrolling box of its own. */
  whole?: boolean;
  /** In the head, at its end. */
  children?: ComponentChildren;
  /** A press on a line's number. */
  pick?: ((row: LineRow) => void) | undefined;
  /** What stands below a line. */
  below?: ((row: LineRow) => ComponentChildren) | undefined;
}

export function Diff(props: DiffProps) {
  const { note = "", path, numbered = true, evidence = false, whole = false } = props;
  const source = useSource(props);
  const open = useSignal(whole);
  const frame = useRef<HTMLDivElement>(null);
  const room = useRoom(frame);
  void source.version.value;
  const most = Math.min(source.prefix, evidence ? MOST_EVIDENCE : MOST);
  const rest = source.total - most;
  const folds = rest > 3 && !whole;
  const shown = folds && !open.value ? most : source.total;
  const { added, gone } = source.facts;
  const choice = added > 0 && gone > 0 && room && shown <= MOST_TWO;
  const two = choice && preferred.value === "two" && hasAll(source, shown);
  const pairs = useMemo(() => (two ? pairUp(source.rows.slice(0, shown) as Row[]) : null), [two, shown, source, source.version.value]);
  return (
    <div class="diff" ref={frame} style={{ "--digits": source.digits }}>
      <DiffHead facts={source.facts} path={path} choice={choice} two={two}>
        {props.children}
      </DiffHead>
      <Remarks facts={source.facts} note={note} empty={source.total === 0} evidence={evidence} />
      {source.total > 0 && <Body key={two ? "two" : "one"} props={props} source={source} pairs={pairs} shown={shown} soon={Math.ceil(most / CHUNK) + 1} numbered={numbered} />}
      {folds && (
        <div class="diff-more" data-evidence={(evidence && !open.value) || undefined} data-rest={open.value ? undefined : rest}>
          <More open={open.value} rest={rest} toggle={() => (open.value = !open.value)} />
        </div>
      )}
    </div>
  );
}

function useSource({ diff, facts, fetch, name }: DiffProps): DiffSource {
  return useMemo(() => {
    const make = () => {
      const rows = typeof diff === "string" ? readDiff(diff) : diff;
      return new DiffSource(rows, facts ?? factsOf(rows), fetch);
    };
    return fetch && name ? sourceNamed(name, make) : make();
  }, [diff, facts, name]);
}

/** Whether all of it is here; if not, it is fetched. */
function hasAll(source: DiffSource, shown: number): boolean {
  const all = { from: 0, to: shown };
  if (source.isKnown(all)) return true;
  source.want(all);
  return false;
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

interface DiffHeadProps {
  facts: DiffFacts;
  path: string;
  choice: boolean;
  two: boolean;
  children: ComponentChildren;
}

function DiffHead({ facts, path, choice, two, children }: DiffHeadProps) {
  const choose = () => {
    preferred.value = two ? "one" : "two";
    localStorage.setItem("handraise.diff", preferred.value);
  };
  return (
    <div class="diff-head">
      <code>{revealExactly(path)}</code>
      <span class="count">
        <span class="plus">+{facts.added}</span> <span class="minus">−{facts.gone}</span>
      </span>
      {choice && (
        <button type="button" class="quiet" onClick={choose}>
          {two ? t("page.diff.unified") : t("page.diff.side_by_side")}
        </button>
      )}
      {children}
    </div>
  );
}

/** What is true of all of it: said once. */
function Remarks({ facts, note, empty, evidence }: { facts: DiffFacts; note: string; empty: boolean; evidence: boolean }) {
  const remarks = remarksOf(facts).map((each) => t(`page.diff.remark.${each}`));
  const texts = [...(note ? [reveal(note)] : empty ? [t("page.diff.no_changes")] : []), ...remarks];
  if (!texts.length) return null;
  return (
    <p class="note" data-evidence={evidence || undefined}>
      {texts.join(" · ")}
    </p>
  );
}

interface BodyProps {
  props: DiffProps;
  source: DiffSource;
  pairs: readonly Pair[] | null;
  shown: number;
  soon: number;
  numbered: boolean;
}

/** The rows, in chunks. */
function Body({ props, source, pairs, shown, soon, numbered }: BodyProps) {
  const frame = useRef<HTMLDivElement>(null);
  const nearness = useMemo(() => new Nearness(soon), [source]);
  const groups = useMemo(() => new Nearness(Math.ceil(soon / GROUP)), [source]);
  const inner = !props.evidence && !props.whole;
  useEffect(() => {
    const root = inner ? frame.current : (frame.current?.closest(".scrolls") ?? null);
    const ends = [nearness.watch(root), groups.watch(root)];
    return () => ends.forEach((end) => end());
  }, [nearness, groups]);
  const total = pairs ? pairs.length : shown;
  const shared = { source, pairs, nearness, numbered, path: props.path, evidence: props.evidence ?? false, pick: props.pick, below: props.below };
  return (
    <div class={inner ? "diff-body scrolls-itself" : "diff-body"} ref={frame} tabIndex={inner ? 0 : undefined} role="region" aria-label={revealExactly(props.path)}>
      {Array.from({ length: Math.ceil(chunkCount(total) / GROUP) }, (_, group) => (
        <GroupBox key={group} group={group} total={total} groups={groups} {...shared} />
      ))}
    </div>
  );
}
