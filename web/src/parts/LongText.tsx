/** Very long output that was unfolded: only the lines near the screen are drawn, the others are blank boxes. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { CHUNK, chunkAt, chunkCount, GROUP, ROW } from "../diff/chunks";
import { Nearness } from "../diff/nearness";
import { Marked } from "./Folded";
import { memo } from "./memo";

export function LongText({ lines, label }: { lines: readonly string[]; label?: string | undefined }) {
  const frame = useRef<HTMLPreElement>(null);
  const [chunks, groups] = useMemo(() => [new Nearness(2), new Nearness(1)] as const, []);
  useEffect(() => {
    const ends = [chunks.watch(frame.current), groups.watch(frame.current)];
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <pre class="long-text" ref={frame} tabIndex={0} aria-label={label}>
      {Array.from({ length: Math.ceil(chunkCount(lines.length) / GROUP) }, (_, group) => (
        <LineGroup key={group} group={group} lines={lines} groups={groups} chunks={chunks} />
      ))}
    </pre>
  );
}

interface GroupProps {
  group: number;
  lines: readonly string[];
  groups: Nearness;
  chunks: Nearness;
}

/** Many chunks: one blank box until it comes near for the first time. */
const LineGroup = memo(({ group, lines, groups, chunks }: GroupProps) => {
  const frame = useRef<HTMLDivElement>(null);
  const opened = useRef(false);
  opened.current ||= groups.of(group).value;
  useEffect(() => (frame.current ? groups.enter(frame.current, group) : undefined), [opened.current]);
  const [from, to] = [group * GROUP, Math.min(chunkCount(lines.length), (group + 1) * GROUP)];
  if (!opened.current) return <div ref={frame} style={{ height: `${(Math.min(lines.length, to * CHUNK) - from * CHUNK) * ROW}px` }} data-blank="" />;
  return (
    <>
      {Array.from({ length: to - from }, (_, at) => (
        <LineChunk key={at} index={from + at} lines={lines} chunks={chunks} />
      ))}
    </>
  );
});

const LineChunk = memo(({ index, lines, chunks }: { index: number; lines: readonly string[]; chunks: Nearness }) => {
  const frame = useRef<HTMLDivElement>(null);
  const near = chunks.of(index).value;
  useEffect(() => (frame.current ? chunks.enter(frame.current, index) : undefined), []);
  const { from, to } = chunkAt(index, lines.length);
  const height = near ? undefined : `${Math.round(chunks.heightOf(index) ?? (to - from) * ROW)}px`;
  return (
    <div ref={frame} style={{ height }} data-blank={near ? undefined : ""}>
      {near && lines.slice(from, to).map((line, at) => <Marked key={at} line={`${line}\n`} />)}
    </div>
  );
});
