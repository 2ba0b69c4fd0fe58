/** The rows of a diff. Of a long one only the beginning is there at first: the rest is fetched in pages, when it comes near. */
import { signal } from "@preact/signals";
import type { DiffFacts, DiffPart } from "../feed/model";
import { CHUNK, type Chunk, PAGE, pagesOf } from "./chunks";
import { readDiff, type Row } from "./rows";

export type FetchPart = (first: number, limit: number) => Promise<DiffPart>;

export class DiffSource {
  /** A row that isn't here yet is undefined. */
  readonly rows: (Row | undefined)[];
  /** Counts how often rows arrived. */
  readonly version = signal(0);
  readonly failed = signal(false);
  /** How many are here from the start, without a gap. */
  prefix: number;
  private readonly wanted = new Set<number>();

  constructor(
    rows: readonly Row[],
    readonly facts: DiffFacts,
    private readonly fetch: FetchPart | null = null,
  ) {
    this.rows = [...rows];
    this.prefix = rows.length;
    if (fetch && facts.lines > rows.length) this.rows.length = facts.lines;
  }

  get total(): number {
    return this.rows.length;
  }

  isKnown({ from, to }: Chunk): boolean {
    if (to <= this.prefix) return true;
    for (let at = from; at < to; at += 1) if (this.rows[at] === undefined) return false;
    return true;
  }

  /** Fetches what of this range isn't here. */
  want(range: Chunk): void {
    if (this.isKnown(range)) return;
    for (const page of pagesOf(range)) void this.load(page);
  }

  /** As many characters as the widest line number has. */
  get digits(): number {
    return String(Math.max(this.highest, this.rows.length < CHUNK ? 0 : this.rows.length)).length;
  }

  private get highest(): number {
    const last = this.rows.findLast((row) => row !== undefined && row.kind !== "hunk" && row.kind !== "end");
    return last ? Math.max("old" in last ? last.old : 0, "new" in last ? last.new : 0) : 0;
  }

  private async load(page: number): Promise<void> {
    if (this.wanted.has(page) || !this.fetch) return;
    this.wanted.add(page);
    const end = Math.min(this.total, page + PAGE);
    try {
      // Very long lines come in several parts.
      for (let at = page; at < end; ) {
        const part = await this.fetch(at, end - at);
        const rows = readDiff(part.text, part.old, part.new);
        if (!rows.length) throw new Error("a part without lines");
        rows.forEach((row, index) => (this.rows[at + index] ??= row));
        at += rows.length;
      }
      this.failed.value = false;
    } catch {
      this.wanted.delete(page);
      this.failed.value = true;
    }
    while (this.prefix < this.total && this.rows[this.prefix] !== undefined) this.prefix += 1;
    this.version.value += 1;
  }
}

const MOST_KEPT = 6;
const kept = new Map<string, DiffSource>();

/** One for each name: what was fetched stays, also if the diff is drawn again elsewhere. */
export function sourceNamed(name: string, make: () => DiffSource): DiffSource {
  const found = kept.get(name) ?? make();
  kept.delete(name);
  kept.set(name, found);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return found;
}
